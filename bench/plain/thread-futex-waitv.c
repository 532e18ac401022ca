#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/syscall.h>

#include "pair.h"

static struct {
    _Alignas(64) _Atomic uint32_t word;
    uint32_t seen;
} ends[2];
static _Atomic uint32_t stop;

static void make(void) {}

static inline void hand_to(int whom, uint64_t token) {
    atomic_store_explicit(&ends[whom].word, (uint32_t)token, memory_order_release);
    syscall(SYS_futex, &ends[whom].word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static inline uint64_t await(int who) {
    uint32_t token;
    while ((token = atomic_load_explicit(&ends[who].word, memory_order_acquire)) == ends[who].seen) {
        struct futex_waitv either[2] = {
            {ends[who].seen, (uintptr_t)&ends[who].word, FUTEX_32 | FUTEX_PRIVATE_FLAG, 0},
            {0, (uintptr_t)&stop, FUTEX_32 | FUTEX_PRIVATE_FLAG, 0},
        };
        syscall(SYS_futex_waitv, either, 2, 0, NULL, 0);
    }
    return ends[who].seen = token;
}
