// A program of many threads that all switch: each sleeps for a period, again and again, until it is ended.
//   many THREADS PERIOD_MS
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static struct timespec period;

static void* sleeper(void* unused) {
    (void)unused;
    for (;;) nanosleep(&period, NULL);
    return NULL;
}

int main(int count, char** arguments) {
    const int threads = count == 3 ? atoi(arguments[1]) : 0;
    const long milliseconds = count == 3 ? atol(arguments[2]) : 0;
    if (threads < 1 || milliseconds < 1) {
        fprintf(stderr, "usage: many THREADS PERIOD_MS\n");
        return 2;
    }
    period = (struct timespec){milliseconds / 1000, milliseconds % 1000 * 1000000};
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    for (int i = 1; i < threads; ++i) {
        pthread_t thread;
        if (pthread_create(&thread, &small, sleeper, NULL) != 0) {
            fprintf(stderr, "many: only %d threads can be had here\n", i);
            return 1;
        }
    }
    puts("ready");
    fflush(stdout);
    sleeper(NULL);
}
