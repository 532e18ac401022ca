#include <signal.h>
#include <sys/ioctl.h>

#include "plain.h"
#include "wall.h"

static void supervise(int listener) {
    for (;;) {
        struct seccomp_notif call = {0};
        struct seccomp_notif_resp answer = {0};
        if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0) _exit(1);
        answer.id = call.id;
        answer.val = (int64_t)call.data.args[0] + 1;
        if (ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer) != 0) _exit(1);
    }
}

int main(int argc, char** argv) {
    struct plain_arguments a = plain_start(argc, argv);
    int listener = give_away(SYS_vhangup, SECCOMP_RET_USER_NOTIF, SECCOMP_FILTER_FLAG_NEW_LISTENER);
#ifdef SYNCHRONOUS
    // SECCOMP_IOCTL_NOTIF_SET_FLAGS, SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP: Linux 6.6
    if (ioctl(listener, SECCOMP_IOW(4, uint64_t), 1ul) != 0) return 1;
#endif
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        supervise(listener);
    }
    close(listener);
    long token = 1;
    for (int b = 0; b < a.batches; b++) {
        uint64_t begin = plain_now();
        for (uint64_t i = 0; i < a.switches; i += 2) token = syscall(SYS_vhangup, token + 1);
        plain_print(plain_now() - begin, a.switches);
    }
    kill(child, SIGKILL);
}
