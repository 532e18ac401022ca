#include <pthread.h>
#include <unistd.h>

#include "plain.h"

static int to_partner[2], to_driver[2];

static void* live(void* unused) {
    uint64_t token;
    while (read(to_partner[0], &token, 8) == 8) {
        if (write(to_driver[1], &token, 8) != 8) break;
    }
    return unused;
}

int main(int argc, char** argv) {
    struct plain_arguments a = plain_start(argc, argv);
    pthread_t thread;
    if (pipe(to_partner) != 0 || pipe(to_driver) != 0 || pthread_create(&thread, NULL, live, NULL) != 0) return 1;
    for (int b = 0; b < a.batches; b++) {
        uint64_t begin = plain_now();
        for (uint64_t i = 0; i < a.switches; i += 2) {
            uint64_t token = i;
            if (write(to_partner[1], &token, 8) != 8 || read(to_driver[0], &token, 8) != 8) return 1;
        }
        plain_print(plain_now() - begin, a.switches);
    }
}
