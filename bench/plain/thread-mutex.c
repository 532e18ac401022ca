// Four threads take one mutex, as the defaults of thread/mutex say: 50 steps of work under it and 50 after it.
#include <pthread.h>
#include <stdatomic.h>

#include "plain.h"

#define THREADS 4
#define STEPS 50

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t begin, end;
static _Alignas(64) uint64_t left;

static uint64_t work(uint64_t product) {
    for (int i = 0; i < STEPS; i++) product = plain_times_three(product);
    return product;
}

static void take_turns(void) {
    for (uint64_t product = 1;; product = work(product)) {
        pthread_mutex_lock(&mutex);
        if (left == 0) break;
        product = work(product);
        left--;
        pthread_mutex_unlock(&mutex);
    }
    pthread_mutex_unlock(&mutex);
}

static void* live(void* unused) {
    for (;;) {
        pthread_barrier_wait(&begin);
        take_turns();
        pthread_barrier_wait(&end);
    }
    return unused;
}

int main(int argc, char** argv) {
    struct plain_arguments a = plain_start(argc, argv);
    pthread_barrier_init(&begin, NULL, THREADS);
    pthread_barrier_init(&end, NULL, THREADS);
    for (int i = 1; i < THREADS; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, live, NULL) != 0) return 1;
    }
    for (int b = 0; b < a.batches; b++) {
        left = a.switches;
        uint64_t from = plain_now();
        pthread_barrier_wait(&begin);
        take_turns();
        pthread_barrier_wait(&end);
        plain_print(plain_now() - from, a.switches);
    }
    exit(0);
}
