// A real-time signal for the partner's thread, with the token as its value.
#pragma once
#include <sys/syscall.h>

#include "pair.h"

static sigset_t signals;
static volatile int threads[2];
static siginfo_t news;
static void make_receivers(void);

static void make(void) {
    sigemptyset(&signals);
    sigaddset(&signals, SIGRTMIN);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    news.si_signo = SIGRTMIN;
    news.si_code = SI_QUEUE;
    news.si_pid = getpid();
    news.si_uid = getuid();
    threads[0] = news.si_pid;
    make_receivers();
}

static inline void hand_to(int whom, uint64_t token) {
    siginfo_t own = news;
    own.si_value.sival_ptr = (void*)token;
    while (threads[whom] == 0) sched_yield();
    syscall(SYS_rt_tgsigqueueinfo, own.si_pid, threads[whom], own.si_signo, &own);
}

static inline void tell_thread(int who) {
    if (threads[who] == 0) threads[who] = (int)syscall(SYS_gettid);
}
