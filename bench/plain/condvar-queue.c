// A thread puts a task into a queue under a mutex, whose one worker waits at a condition variable, and sleeps until it
// runs: from before the hand-over to the first statement of the task.
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "plain.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static uint64_t queue[4];
static unsigned put, taken;
static uint64_t ran;
static atomic_uint done;  // how the submitter sleeps lies in the interval, where it was not preempted at once

static void* work(void* unused) {
    for (;;) {
        pthread_mutex_lock(&mutex);
        while (put == taken) pthread_cond_wait(&filled, &mutex);
        taken++;
        pthread_mutex_unlock(&mutex);
        ran = plain_now();
        atomic_store(&done, 1);
        syscall(SYS_futex, &done, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    }
    return unused;
}

int main(int argc, char** argv) {
    struct plain_arguments a = plain_start(argc, argv);
    pthread_t worker;
    if (pthread_create(&worker, NULL, work, NULL) != 0) return 1;
    for (int b = 0; b < a.batches; b++) {
        uint64_t sum = 0;
        for (uint64_t i = 0; i < a.switches; i++) {
            const uint64_t from = plain_now();
            pthread_mutex_lock(&mutex);
            queue[put++ % 4] = i;
            pthread_mutex_unlock(&mutex);
            pthread_cond_signal(&filled);
            while (atomic_load(&done) == 0) syscall(SYS_futex, &done, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
            atomic_store(&done, 0);
            sum += ran - from;
        }
        plain_print(sum, a.switches);
    }
    exit(0);
}
