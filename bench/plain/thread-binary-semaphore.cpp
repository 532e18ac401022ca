#include <semaphore>

#include "pair.h"

static struct alignas(64) {
    std::binary_semaphore arrived{0};
    uint64_t token = 0;
} ends[2];

static void make() {}

static inline void hand_to(int whom, uint64_t token) {
    ends[whom].token = token;
    ends[whom].arrived.release();
}

static inline uint64_t await(int who) {
    ends[who].arrived.acquire();
    return ends[who].token;
}
