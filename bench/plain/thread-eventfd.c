#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "plain.h"

static int to_partner, to_driver;

static void* live(void* unused) {
    uint64_t token;
    while (read(to_partner, &token, 8) == 8) {
        if (write(to_driver, &token, 8) != 8) break;
    }
    return unused;
}

int main(int argc, char** argv) {
    struct plain_arguments a = plain_start(argc, argv);
    to_partner = eventfd(0, 0);
    to_driver = eventfd(0, 0);
    pthread_t thread;
    if (to_partner == -1 || to_driver == -1 || pthread_create(&thread, NULL, live, NULL) != 0) return 1;
    for (int b = 0; b < a.batches; b++) {
        uint64_t begin = plain_now();
        for (uint64_t i = 0; i < a.switches; i += 2) {
            uint64_t token = i + 1;
            if (write(to_partner, &token, 8) != 8 || read(to_driver, &token, 8) != 8) return 1;
        }
        plain_print(plain_now() - begin, a.switches);
    }
}
