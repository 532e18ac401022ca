// Waking a CPU after it idled, as a plain loop: a thread sleeps on a futex, and another one on the CPU below wakes it
// when the gap has passed. Median of each batch.
//
//   gap CPU WAKES_PER_BATCH BATCHES [GAP_US]
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "plain/plain.h"

static _Alignas(64) _Atomic uint32_t bed;
static _Alignas(64) _Atomic uint64_t asleep_at;
static _Alignas(64) uint64_t called;
static uint64_t gap_ns = 10000;

static int ascending(const void* a, const void* b) {
    const uint64_t x = *(const uint64_t*)a, y = *(const uint64_t*)b;
    return (x > y) - (x < y);
}

static void* wake(void* cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(*(int*)cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0) _exit(1);
    for (uint64_t last = 0, at;; last = at) {
        while ((at = atomic_load_explicit(&asleep_at, memory_order_acquire)) == last) {}
        while ((called = plain_now()) < at + gap_ns) {}
        atomic_fetch_add_explicit(&bed, 1, memory_order_release);
        syscall(SYS_futex, &bed, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    }
    return NULL;
}

int main(int argc, char** argv) {
    if (argc == 5) gap_ns = strtoull(argv[--argc], NULL, 10) * 1000;
    struct plain_arguments a = plain_start(argc, argv);
    uint64_t* took = calloc(a.switches, sizeof *took);
    int other = a.cpu > 0 ? a.cpu - 1 : 1;
    pthread_t thread;
    if (took == NULL || pthread_create(&thread, NULL, wake, &other) != 0) return 1;
    for (int b = 0; b < a.batches; b++) {
        for (uint64_t i = 0; i < a.switches; i++) {
            const uint32_t before = atomic_load(&bed);
            atomic_store_explicit(&asleep_at, plain_now(), memory_order_release);
            while (atomic_load_explicit(&bed, memory_order_acquire) == before)
                syscall(SYS_futex, &bed, FUTEX_WAIT_PRIVATE, before, NULL, NULL, 0);
            took[i] = plain_now() - called;
        }
        qsort(took, a.switches, sizeof *took, ascending);
        plain_print(took[a.switches / 2], 1);
    }
}
