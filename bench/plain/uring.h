// A ring of io_uring for each of two threads, by system calls.
#pragma once
#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "pair.h"

static struct uring {
    _Alignas(64) int fd;
    unsigned prepared;
    unsigned sent_mask, arrived_mask;
    unsigned *sent, *taken, *arrived, *state;
    struct io_uring_sqe* entries;
    struct io_uring_cqe* completions;
} rings[2];

static void make_ring(struct uring* ring) {
    struct io_uring_params p = {0};
#ifdef POLLED  // A thread of the kernel looks for requests, on another CPU.
    p.flags = IORING_SETUP_SQPOLL | IORING_SETUP_SQ_AFF | (ring == rings ? 0 : IORING_SETUP_ATTACH_WQ);
    p.sq_thread_cpu = sched_getcpu() == 0;
    p.sq_thread_idle = 1000;
    p.wq_fd = (unsigned)rings->fd;
#endif
    ring->fd = (int)syscall(SYS_io_uring_setup, 8, &p);
    char* queues = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring->fd, IORING_OFF_SQ_RING);
    ring->entries = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring->fd, IORING_OFF_SQES);
    if (queues == MAP_FAILED || ring->entries == MAP_FAILED) exit(1);
    ring->sent = (unsigned*)(queues + p.sq_off.tail);
    ring->sent_mask = *(unsigned*)(queues + p.sq_off.ring_mask);
    ring->taken = (unsigned*)(queues + p.cq_off.head);
    ring->arrived = (unsigned*)(queues + p.cq_off.tail);
    ring->arrived_mask = *(unsigned*)(queues + p.cq_off.ring_mask);
    ring->state = (unsigned*)(queues + p.sq_off.flags);
    ring->completions = (struct io_uring_cqe*)(queues + p.cq_off.cqes);
    for (unsigned i = 0; i < p.sq_entries; i++) ((unsigned*)(queues + p.sq_off.array))[i] = i;
}

static inline struct io_uring_sqe* prepare(struct uring* ring, int operation) {
    struct io_uring_sqe* entry = &ring->entries[(*ring->sent + ring->prepared++) & ring->sent_mask];
    memset(entry, 0, sizeof *entry);
    entry->opcode = (unsigned char)operation;
    return entry;
}

static inline struct io_uring_cqe* submit_and_wait(struct uring* ring) {
    // A thread of the kernel may take at once what is sent, so that requests are whole before.
    unsigned sent = ring->prepared;
    __atomic_store_n(ring->sent, *ring->sent + sent, __ATOMIC_RELEASE);
    ring->prepared = 0;
#ifdef POLLED
    while (__atomic_load_n(ring->arrived, __ATOMIC_ACQUIRE) == *ring->taken) {
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        unsigned sleeps = __atomic_load_n(ring->state, __ATOMIC_RELAXED) & IORING_SQ_NEED_WAKEUP;
        unsigned flags = IORING_ENTER_GETEVENTS | (sleeps ? IORING_ENTER_SQ_WAKEUP : 0);
        syscall(SYS_io_uring_enter, ring->fd, 0, 1, flags, NULL, 0);
    }
#else
    do {
        long submitted = syscall(SYS_io_uring_enter, ring->fd, sent, 1, IORING_ENTER_GETEVENTS, NULL, 0);
        if (submitted > 0) sent -= (unsigned)submitted;
    } while (__atomic_load_n(ring->arrived, __ATOMIC_ACQUIRE) == *ring->taken);
#endif
    return &ring->completions[*ring->taken & ring->arrived_mask];
}

static inline void take(struct uring* ring) { __atomic_store_n(ring->taken, *ring->taken + 1, __ATOMIC_RELEASE); }
