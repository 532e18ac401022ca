#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "plain.h"

static struct {
    _Alignas(64) _Atomic uint32_t word;
} driver, partner;

static void pass(_Atomic uint32_t* to, uint32_t token) {
    atomic_store_explicit(to, token, memory_order_release);
    syscall(SYS_futex, to, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void await(_Atomic uint32_t* own, uint32_t old) {
    while (atomic_load_explicit(own, memory_order_acquire) == old)
        syscall(SYS_futex, own, FUTEX_WAIT_PRIVATE, old, NULL, NULL, 0);
}

static void* live(void* unused) {
    for (uint32_t token = 0;; token++) {
        await(&partner.word, token);
        pass(&driver.word, token + 1);
    }
    return unused;
}

int main(int argc, char** argv) {
    struct plain_arguments a = plain_start(argc, argv);
    pthread_t thread;
    if (pthread_create(&thread, NULL, live, NULL) != 0) return 1;
    uint32_t token = 0;
    for (int b = 0; b < a.batches; b++) {
        uint64_t begin = plain_now();
        for (uint64_t i = 0; i < a.switches; i += 2, token++) {
            pass(&partner.word, token + 1);
            await(&driver.word, token);
        }
        plain_print(plain_now() - begin, a.switches);
    }
}
