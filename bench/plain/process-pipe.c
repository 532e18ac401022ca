#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plain.h"

int main(int argc, char** argv) {
    struct plain_arguments a = plain_start(argc, argv);
    int to_partner[2], to_driver[2];
    uint64_t token = 0;
    if (pipe(to_partner) != 0 || pipe(to_driver) != 0) return 1;
    pid_t child = fork();
    if (child == -1) return 1;
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(to_partner[1]);
        while (read(to_partner[0], &token, 8) == 8) {
            if (write(to_driver[1], &token, 8) != 8) break;
        }
        _exit(0);
    }
    for (int b = 0; b < a.batches; b++) {
        uint64_t begin = plain_now();
        for (uint64_t i = 0; i < a.switches; i += 2) {
            if (write(to_partner[1], &token, 8) != 8 || read(to_driver[0], &token, 8) != 8) return 1;
        }
        plain_print(plain_now() - begin, a.switches);
    }
    close(to_partner[1]);
    waitpid(child, NULL, 0);
}
