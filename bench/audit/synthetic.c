// A program whose switches are known: it does a fixed amount of work and, unless told otherwise, blocks a known number
// of times while it does so. `audit` is held against it: the CPU time that the same work needs without switches is
// measured, not assumed.
//
//   synthetic pipe|condvar|sleep CPUS RATE SECONDS with|without
//
// CPUS: `1` or `1,0`, where the threads run. RATE: switches per second, made in ten bursts per second (sleep: evenly);
// a third thread sleeps between the bursts and wakes the first, so that pauses add some twenty switches a second and no
// more. `without`: one thread does all the work, with the same pauses. Prints one line of JSON: what was done, and the
// CPU time of the process.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { bursts_a_second = 10, work_steps = 2000 };

static int cpus[2];
static int cpu_count;
static volatile uint64_t sink;

static void fail(const char* what) {
    perror(what);
    exit(2);
}

// The work of one turn: a chain of multiplications that no compiler shortens and no memory touches.
static void work(void) {
    uint64_t x = sink | 1;
    for (int i = 0; i < work_steps; ++i) x = x * 6364136223846793005u + 1442695040888963407u;
    sink = x;
}

static void pin(int index) {
    cpu_set_t set[8];  // as many CPUs as Linux can have
    memset(set, 0, sizeof set);
    CPU_SET_S(cpus[index % cpu_count], sizeof set, set);
    if (sched_setaffinity(0, sizeof set, set) != 0) fail("sched_setaffinity");
}

static uint64_t now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void sleep_until(uint64_t ns) {
    const struct timespec until = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) != 0) {}
}

// --- two ways to hand over ---
static int pipes[2][2];
static pthread_mutex_t mutexes[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_cond_t conditions[2] = {PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER};
static int turns_due[2];  // counted, as the bytes in a pipe are: a burst that takes longer than its tenth of a second
                          // is begun twice
static int go_home[2];
static uint64_t bursts;
static int by_pipe;

// `what`: 1: your turn, 2: go home.
static void wake(int who, int what) {
    if (by_pipe) {
        const char byte = (char)what;
        if (write(pipes[who][1], &byte, 1) != 1) fail("write");
        return;
    }
    pthread_mutex_lock(&mutexes[who]);
    if (what == 1) {
        ++turns_due[who];
    } else {
        go_home[who] = 1;
    }
    pthread_mutex_unlock(&mutexes[who]);
    pthread_cond_signal(&conditions[who]);
}

static int wait_for(int who) {
    if (by_pipe) {
        char byte = 0;
        if (read(pipes[who][0], &byte, 1) != 1) fail("read");
        return byte;
    }
    pthread_mutex_lock(&mutexes[who]);
    while (turns_due[who] == 0 && !go_home[who]) pthread_cond_wait(&conditions[who], &mutexes[who]);
    const int what = turns_due[who] > 0 ? 1 : 2;
    if (what == 1) --turns_due[who];
    pthread_mutex_unlock(&mutexes[who]);
    return what;
}

static void* partner(void* unused) {
    (void)unused;
    pin(1);
    while (wait_for(1) == 1) {
        work();
        wake(0, 1);
    }
    return NULL;
}

static void* pacer(void* unused) {
    (void)unused;
    pin(0);
    uint64_t next = now_ns();
    for (uint64_t i = 0; i < bursts; ++i) {
        wake(0, 1);
        next += 1000000000u / bursts_a_second;
        sleep_until(next);
    }
    return NULL;
}

struct sleeper {
    int index;
    uint64_t turns;
    uint64_t period_ns;
};

static void* sleeping(void* argument) {
    const struct sleeper* self = argument;
    pin(self->index);
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    const struct timespec pause = {0, (long)self->period_ns};
    for (uint64_t i = 0; i < self->turns; ++i) {
        work();
        if (self->period_ns != 0) clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
    }
    return NULL;
}

static void sleeps(uint64_t turns, uint64_t rate, int with) {
    struct sleeper all[2];
    pthread_t threads[2];
    const int count = with ? cpu_count : 1;
    for (int i = 0; i < count; ++i) {
        all[i] = (struct sleeper){i, turns / (uint64_t)count, with ? 1000000000u * (uint64_t)count / rate : 0};
        if (pthread_create(&threads[i], NULL, sleeping, &all[i]) != 0) fail("pthread_create");
    }
    for (int i = 0; i < count; ++i) pthread_join(threads[i], NULL);
}

static void hands_over(uint64_t turns, uint64_t rate, int with) {
    pthread_t thread;
    pthread_t pace;
    const uint64_t burst = rate / bursts_a_second;
    bursts = turns / burst;
    if (pipe(pipes[0]) != 0 || pipe(pipes[1]) != 0) fail("pipe");
    if (with && pthread_create(&thread, NULL, partner, NULL) != 0) fail("pthread_create");
    if (pthread_create(&pace, NULL, pacer, NULL) != 0) fail("pthread_create");
    for (uint64_t i = 0; i < bursts; ++i) {
        wait_for(0);
        for (uint64_t done = 0; done < burst; done += 2) {
            work();
            if (with) {
                wake(1, 1);
                wait_for(0);
            } else {
                work();
            }
        }
    }
    pthread_join(pace, NULL);
    if (with) {
        wake(1, 2);
        pthread_join(thread, NULL);
    }
}

int main(int count, char** arguments) {
    if (count != 6) {
        fprintf(stderr, "usage: synthetic pipe|condvar|sleep CPUS RATE SECONDS with|without\n");
        return 2;
    }
    cpu_count = sscanf(arguments[2], "%d,%d", &cpus[0], &cpus[1]);
    const uint64_t rate = strtoull(arguments[3], NULL, 10);
    const uint64_t turns = (uint64_t)((double)rate * strtod(arguments[4], NULL));
    const int with = strcmp(arguments[5], "with") == 0;
    if (cpu_count < 1 || rate < 2 * bursts_a_second || turns == 0) {
        fprintf(stderr, "synthetic: CPUS is one or two numbers, RATE at least %d, SECONDS above 0\n",
                2 * bursts_a_second);
        return 2;
    }
    by_pipe = strcmp(arguments[1], "pipe") == 0;
    pin(0);
    const uint64_t began = now_ns();
    if (strcmp(arguments[1], "sleep") == 0) {
        sleeps(turns, rate, with);
    } else {
        hands_over(turns, rate, with);
    }
    const uint64_t wall = now_ns() - began;
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    struct timespec cpu;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    printf("{\"turns\":%llu,\"voluntary\":%ld,\"involuntary\":%ld,\"cpu_ns\":%llu,\"wall_ns\":%llu}\n",
           (unsigned long long)turns, usage.ru_nvcsw, usage.ru_nivcsw,
           (unsigned long long)cpu.tv_sec * 1000000000u + (unsigned long long)cpu.tv_nsec, (unsigned long long)wall);
    return 0;
}
