#include <pthread.h>

#include "plain.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t arrived[2] = {PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER};
static int holder;

static void pass(int to) {
    pthread_mutex_lock(&mutex);
    holder = to;
    pthread_cond_signal(&arrived[to]);
    pthread_mutex_unlock(&mutex);
}

static void await(int own) {
    pthread_mutex_lock(&mutex);
    while (holder != own) pthread_cond_wait(&arrived[own], &mutex);
    pthread_mutex_unlock(&mutex);
}

static void* live(void* unused) {
    for (;;) {
        await(1);
        pass(0);
    }
    return unused;
}

int main(int argc, char** argv) {
    struct plain_arguments a = plain_start(argc, argv);
    pthread_t thread;
    if (pthread_create(&thread, NULL, live, NULL) != 0) return 1;
    for (int b = 0; b < a.batches; b++) {
        uint64_t begin = plain_now();
        for (uint64_t i = 0; i < a.switches; i += 2) {
            pass(1);
            await(0);
        }
        plain_print(plain_now() - begin, a.switches);
    }
}
