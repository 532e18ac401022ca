// thread-futex that looks ten times before it blocks, and wakes only who blocks.
#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/syscall.h>

#include "pair.h"

#define LOOKS 10

static struct {
    _Alignas(64) _Atomic uint32_t word, asleep;
} of[2];

static void make(void) {}

static void hand_to(int whom, uint64_t token) {
    atomic_store(&of[whom].word, (uint32_t)token);
    if (atomic_load(&of[whom].asleep)) syscall(SYS_futex, &of[whom].word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static uint64_t await(int who) {
    static uint32_t seen[32];
    uint32_t* last = &seen[16 * who];
    uint32_t token = atomic_load_explicit(&of[who].word, memory_order_acquire);
    for (int i = 0; token == *last && i < LOOKS; i++) {
#ifdef __x86_64__
        __builtin_ia32_pause();
#endif
        token = atomic_load_explicit(&of[who].word, memory_order_acquire);
    }
    if (token == *last) {
        atomic_store(&of[who].asleep, 1);
        while ((token = atomic_load(&of[who].word)) == *last)
            syscall(SYS_futex, &of[who].word, FUTEX_WAIT_PRIVATE, *last, NULL, NULL, 0);
        atomic_store_explicit(&of[who].asleep, 0, memory_order_relaxed);
    }
    return *last = token;
}
