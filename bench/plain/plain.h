// What every plain loop needs and no more: arguments, pinning, printing. A plain loop is the cost as a careful person
// would measure it with twenty lines and no harness; the probe's figures are held against it (METHODOLOGY.md, harness
// share).
//
//   PROGRAM CPU SWITCHES_PER_BATCH BATCHES        prints ns per switch of each batch, one a line
#pragma once
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct plain_arguments {
    int cpu;
    uint64_t switches;
    int batches;
};

static inline struct plain_arguments plain_start(int argc, char** argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: %s CPU SWITCHES_PER_BATCH BATCHES\n", argv[0]);
        exit(2);
    }
    struct plain_arguments arguments = {atoi(argv[1]), strtoull(argv[2], NULL, 10), atoi(argv[3])};
    cpu_set_t set[8];  // as many CPUs as Linux can have
    memset(set, 0, sizeof set);
    CPU_SET_S(arguments.cpu, sizeof set, set);
    if (sched_setaffinity(0, sizeof set, set) != 0) {
        perror("sched_setaffinity");
        exit(1);
    }
    return arguments;
}

static inline uint64_t plain_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

// A step of work that the compiler cannot shorten. Not in rbp or r13, from which `lea` takes a cycle more.
static inline uint64_t plain_times_three(uint64_t value) {
    value *= 3;
#ifdef __x86_64__
    __asm__ volatile("" : "+Q"(value));
#else
    __asm__ volatile("" : "+r"(value));
#endif
    return value;
}

// One picosecond is one thousandth: integers only, so that no floating-point flag is set between two batches
// (fcontext.cpp).
static inline void plain_print(uint64_t nanoseconds, uint64_t switches) {
    uint64_t thousandths = nanoseconds * 1000 / switches;
    printf("%llu.%03llu\n", (unsigned long long)(thousandths / 1000), (unsigned long long)(thousandths % 1000));
}
