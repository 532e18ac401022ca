// Two threads compute on one CPU, as the defaults of thread/rotated say: from the last that one says to the first that
// the other says, less the shortest stretch of work.
#include <pthread.h>
#include <sched.h>

#include "plain.h"

#define STEPS 512

static volatile uint64_t said;
static volatile int owner = -1;
static volatile uint64_t sum, turns;

static uint64_t stretch(uint64_t product) {
    for (int i = 0; i < STEPS; i++) product = plain_times_three(product);
    return product;
}

static void compute(int own, uint64_t until) {
    for (uint64_t product = 1; turns < until;) {
        product = stretch(product);
        const uint64_t now = plain_now();
        if (owner != own) {
            if (owner >= 0) {
                sum = sum + (now - said);
                turns = turns + 1;
            }
            owner = own;
        }
        said = now;
    }
}

static void* live(void* unused) {
    compute(1, UINT64_MAX);
    return unused;
}

int main(int argc, char** argv) {
    struct plain_arguments a = plain_start(argc, argv);
    uint64_t alone = UINT64_MAX;
    for (int i = 0; i < 1000; i++) {
        const uint64_t from = plain_now();
        __asm__ volatile("" ::"r"(stretch(1)));
        const uint64_t took = plain_now() - from;
        if (took < alone) alone = took;
    }
    pthread_t other;
    if (pthread_create(&other, NULL, live, NULL) != 0) return 1;
    for (int b = 0; b < a.batches; b++) {
        const uint64_t from = sum, first = turns;
        compute(0, first + a.switches);
        const uint64_t took = sum - from, less = (turns - first) * alone;
        plain_print(took > less ? took - less : 0, turns - first);
    }
    exit(0);
}
