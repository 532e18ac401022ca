// What a probe needs of the machine: a clock, the CPU, the kernel's counts, and rulers.
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <sys/resource.h>
#include <time.h>

static int64_t ns_of(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

int64_t machine_now(void) { return ns_of(CLOCK_MONOTONIC); }
int64_t machine_cpu(void) { return sched_getcpu(); }

// Of the process so far: voluntary and involuntary switches, minor and major page faults, ns of CPU time.
void machine_usage(int64_t counts[5]) {
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    counts[0] = used.ru_nvcsw, counts[1] = used.ru_nivcsw, counts[2] = used.ru_minflt, counts[3] = used.ru_majflt;
    counts[4] = ns_of(CLOCK_PROCESS_CPUTIME_ID);
}

// The chain: steps that each wait for the one before, so that only the clock's rate changes it. The width: steps of
// which a core takes several per cycle, and a neighbour on the core its share of them.
void machine_rulers(int64_t rulers[2]) {
    uint64_t value = 1, a = 1, b = 2, c = 3, d = 4, e = 5, f = 6;
    const int64_t begin = machine_now();
    for (int step = 0; step < 512; ++step) {
        value = value * 6364136223846793005U + 1442695040888963407U;
        __asm__ volatile("" : "+r"(value));
    }
    const int64_t chain = machine_now();
    for (int step = 0; step < 512; ++step) {
        ++a, ++b, ++c, ++d, ++e, ++f;
        __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f));
    }
    rulers[0] = chain - begin;
    rulers[1] = machine_now() - chain;
}
