#include <semaphore.h>
#include <sys/mman.h>

#ifndef THREADS
#define THREADS 0
#define PROCESSES
#endif
#include "pair.h"

static struct end {
    _Alignas(64) sem_t arrived;
    uint64_t token;
}* ends;

static void make(void) {
    ends = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int who = 0; who < 2; who++) sem_init(&ends[who].arrived, THREADS == 0, 0);
}

static inline void hand_to(int whom, uint64_t token) {
    ends[whom].token = token;
    sem_post(&ends[whom].arrived);
}

static inline uint64_t await(int who) {
    sem_wait(&ends[who].arrived);
    return ends[who].token;
}
