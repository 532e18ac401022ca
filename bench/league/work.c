#include "work.h"

// ROUNDS is the planted length; each round waits for the one before, so that the time is in proportion to it.
uint64_t league_work(uint64_t seed) {
    for (uint64_t round = 0; round < ROUNDS; ++round) {
        seed = seed * 6364136223846793005U + 1442695040888963407U;
        __asm__ volatile("" : "+r"(seed));
    }
    return seed;
}
