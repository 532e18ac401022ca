// A process that counts itself in shared memory and exits, made by vfork, and waited for. SPAWN: by posix_spawn, which
// starts the probe's own program of 20 instructions; it counts in the page of its descriptor.
#include <spawn.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plain.h"

static volatile uint64_t* entered;

// Alone, because the child runs on this stack until it exits.
static __attribute__((noinline)) pid_t make(int page) {
#ifdef SPAWN
    static char number[16];
    static char* program[3] = {ENTER_ONCE, number};
    static char* environment[1];
    pid_t child = -1;
    snprintf(number, sizeof number, "%d", page);
    return posix_spawn(&child, program[0], NULL, NULL, program, environment) == 0 ? child : -1;
#else
    (void)page;
    pid_t child = vfork();
    if (child != 0) return child;
    ++*entered;
    _exit(0);
#endif
}

int main(int argc, char** argv) {
    struct plain_arguments a = plain_start(argc, argv);
    int page = memfd_create("page", 0);
    if (page == -1 || ftruncate(page, 4096) != 0) return 1;
    entered = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, page, 0);
    for (int b = 0; b < a.batches; b++) {
        uint64_t begin = plain_now();
        for (uint64_t i = 0; i < a.switches; i++) {
            int status = 1;
            pid_t child = make(page);
            if (child == -1 || waitpid(child, &status, 0) != child || status != 0) return 1;
        }
        plain_print(plain_now() - begin, a.switches);
    }
    return *entered == (uint64_t)a.batches * a.switches ? 0 : 1;
}
