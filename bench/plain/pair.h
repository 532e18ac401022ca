// Two threads, or with PROCESSES two processes, that hand a token back and forth, for loops that differ in their medium
// alone. The program says before it includes this what the medium is:
//
//   static void make(void);                          before there is anybody else
//   static void hand_to(int whom, uint64_t token);   0 the driver, 1 the partner
//   static uint64_t await(int who);
#pragma once
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "plain.h"

static void make(void);
static void hand_to(int whom, uint64_t token);
static uint64_t await(int who);

static void* live(void* unused) {
    for (;;) hand_to(0, await(1) + 1);
    return unused;
}

int main(int argc, char** argv) {
    struct plain_arguments a = plain_start(argc, argv);
    make();
#ifdef PROCESSES
    pid_t child = fork();
    if (child == -1) return 1;
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        live(NULL);
    }
#else
    pthread_t thread;
    if (pthread_create(&thread, NULL, live, NULL) != 0) return 1;
#endif
    uint64_t token = 1;
    for (int b = 0; b < a.batches; b++) {
        uint64_t begin = plain_now();
        for (uint64_t i = 0; i < a.switches; i += 2) {
            hand_to(1, token);
            token = await(0) + 1;
        }
        plain_print(plain_now() - begin, a.switches);
    }
    if (token != 1 + (uint64_t)a.batches * (a.switches + a.switches % 2)) return 1;
#ifdef PROCESSES
    kill(child, SIGKILL);
#endif
    exit(0);
}
