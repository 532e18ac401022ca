// A process that counts itself in shared memory and exits, made, and waited for. BY: 0 fork, 1 vfork, 2 posix_spawn, 3
// fork and exec; the last two start the probe's own program of 20 instructions, which counts in the page of its
// descriptor.
#include <spawn.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plain.h"

#ifndef BY
#define BY 0
#endif

static volatile uint64_t* entered;
static char* program[3] = {ENTER_ONCE};
static char* environment[1];

static __attribute__((noinline)) pid_t make(void) {
    pid_t child = -1;
    if (BY == 2) return posix_spawn(&child, program[0], NULL, NULL, program, environment) == 0 ? child : -1;
    child = BY == 1 ? vfork() : fork();
    if (child != 0) return child;
    if (BY == 3) execve(program[0], program, environment);
    if (BY != 3) ++*entered;
    _exit(BY == 3);
}

int main(int argc, char** argv) {
    struct plain_arguments a = plain_start(argc, argv);
    int page = memfd_create("page", 0);
    char number[16];
    snprintf(number, sizeof number, "%d", page);
    program[1] = number;
    if (page == -1 || ftruncate(page, 4096) != 0) return 1;
    entered = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, page, 0);
    for (int b = 0; b < a.batches; b++) {
        uint64_t begin = plain_now();
        for (uint64_t i = 0; i < a.switches; i++) {
            int status = 1;
            pid_t child = make();
            if (child == -1 || waitpid(child, &status, 0) != child || status != 0) return 1;
        }
        plain_print(plain_now() - begin, a.switches);
    }
    return *entered == (uint64_t)a.batches * a.switches ? 0 : 1;
}
