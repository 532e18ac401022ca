// A chain of steps in stretches of 50 µs or so, and a thread of SCHED_FIFO that takes its CPU every 2 ms on average, at
// times that are drawn: how much longer the stretch took in which it ran, and the next, than the two before. Mean of
// each batch.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "plain.h"

#define EVERY 2000000

static _Atomic uint64_t runs;

static void* preempt(void* unused) {
    const struct sched_param first = {1};
    if (syscall(SYS_sched_setscheduler, 0, SCHED_FIFO, &first) != 0) _exit(77);
    uint64_t due = plain_now(), drawn = due;
    for (;;) {
        drawn = drawn * 6364136223846793005 + 1442695040888963407;
        due += EVERY / 5 * 3 + (drawn >> 33) % (EVERY / 5 * 4);
        const struct timespec until = {due / 1000000000, due % 1000000000};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
        atomic_fetch_add_explicit(&runs, 1, memory_order_relaxed);
    }
    return unused;
}

int main(int argc, char** argv) {
    struct plain_arguments a = plain_start(argc, argv);
    pthread_t thread;
    if (pthread_create(&thread, NULL, preempt, NULL) != 0) return 1;
    uint64_t product = 1;
    for (int b = 0; b < a.batches; b++) {
        int64_t lost = 0;
        uint64_t took[4] = {0}, came[4] = {1, 1, 1, 1}, found = 0, before = plain_now(), then = runs;
        while (found < a.switches) {
            for (int i = 0; i < 180000; i++) product = plain_times_three(product);
            const uint64_t now = plain_now(), ran = runs;
            for (int i = 0; i < 3; i++) {
                took[i] = took[i + 1];
                came[i] = came[i + 1];
            }
            took[3] = now - before;
            came[3] = ran - then;
            before = now;
            then = ran;
            if (came[0] != 0 || came[1] != 0 || came[2] != 1 || came[3] != 0) continue;
            lost += (int64_t)(took[2] + took[3]) - (int64_t)(took[0] + took[1]);
            found++;
        }
        plain_print(lost > 0 ? (uint64_t)lost : 0, a.switches);
    }
    exit(0);
}
