// Two containers, each with all namespaces and a control group of its own where one can be made, below the root of the
// cpu hierarchy. Container 0 keeps time; the program itself stays outside, waits and removes the groups.
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plain.h"

struct words {
    _Alignas(64) _Atomic uint32_t driver;
    _Alignas(64) _Atomic uint32_t partner;
};

static void pass(_Atomic uint32_t* to, uint32_t token) {
    atomic_store_explicit(to, token, memory_order_release);
    syscall(SYS_futex, to, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void await(_Atomic uint32_t* own, uint32_t old) {
    while (atomic_load_explicit(own, memory_order_acquire) == old)
        syscall(SYS_futex, own, FUTEX_WAIT, old, NULL, NULL, 0);
}

static void drive(struct words* w, struct plain_arguments a) {
    uint32_t token = 0;
    for (int b = 0; b < a.batches; b++) {
        uint64_t begin = plain_now();
        for (uint64_t i = 0; i < a.switches; i += 2, token++) {
            pass(&w->partner, token + 1);
            await(&w->driver, token);
        }
        plain_print(plain_now() - begin, a.switches);
    }
    fflush(stdout);
}

static void answer(struct words* w) {
    for (uint32_t token = 0;; token++) {
        await(&w->partner, token);
        pass(&w->driver, token + 1);
    }
}

static pid_t contain(int group) {
    long flags = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWUSER | SIGCHLD;
    pid_t child = (pid_t)syscall(SYS_clone, flags, NULL, NULL, NULL, 0);
    if (child != 0) return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (group != -1 && write(group, "0", 1) != 1) _exit(1);
    if (unshare(CLONE_NEWCGROUP) != 0) _exit(1);
    return 0;
}

int main(int argc, char** argv) {
    struct plain_arguments a = plain_start(argc, argv);
    const int first_version = access("/sys/fs/cgroup/cpu/tasks", F_OK) == 0;
    char group[2][64], file[2][192];
    pid_t child[2];
    struct words* w = mmap(NULL, sizeof *w, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (w == MAP_FAILED) return 1;
    for (int i = 0; i < 2; i++) {
        snprintf(group[i], sizeof group[i], "/sys/fs/cgroup%s/plain-%d-%d", first_version ? "/cpu" : "", (int)getpid(),
                 i);
        snprintf(file[i], sizeof file[i], "%s/%s", group[i], first_version ? "tasks" : "cgroup.procs");
        mkdir(group[i], 0755);
        child[i] = contain(open(file[i], O_WRONLY | O_CLOEXEC));
        if (child[i] == 0) {
            if (i == 1) answer(w);
            drive(w, a);
            _exit(0);
        }
    }
    int status = 1;
    if (child[0] != -1) waitpid(child[0], &status, 0);
    if (child[1] != -1) {
        kill(child[1], SIGKILL);
        waitpid(child[1], NULL, 0);
    }
    for (int i = 0; i < 2; i++) rmdir(group[i]);
    return status != 0;
}
