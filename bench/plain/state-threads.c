// Two threads of the State Threads library, each with a condition variable: state-threads CPU SWITCHES_PER_BATCH
// BATCHES
#include <dlfcn.h>

#include "plain.h"

// What of st.h is used; the library is loaded as the probe loads it.
static int (*cond_signal)(void*);
static int (*cond_wait)(void*);
static void *driver, *partner;
static volatile uint64_t token;

static void* load(const char* name) {
    static void* library;
    if (library == NULL) library = dlopen("libst.so.1", RTLD_NOW);
    void* function = library == NULL ? NULL : dlsym(library, name);
    if (function == NULL) {
        fprintf(stderr, "state-threads: no %s in libst.so.1\n", name);
        exit(1);
    }
    return function;
}

static void* live(void* argument) {
    for (;;) {
        token = token + 1;
        cond_signal(driver);
        cond_wait(partner);
    }
    return argument;
}

int main(int argc, char** argv) {
    struct plain_arguments a = plain_start(argc, argv);
    int (*init)(void) = load("st_init");
    void* (*cond_new)(void) = load("st_cond_new");
    void* (*create)(void* (*)(void*), void*, int, int) = load("st_thread_create");
    cond_signal = load("st_cond_signal");
    cond_wait = load("st_cond_wait");
    if (init() != 0) return 1;
    driver = cond_new();
    partner = cond_new();
    if (create(live, NULL, 1, 65536) == NULL) return 1;
    // The partner's first turn, after which it waits.
    cond_wait(driver);
    for (int b = 0; b < a.batches; b++) {
        uint64_t begin = plain_now();
        for (uint64_t i = 0; i < a.switches; i += 2) {
            token = token + 1;
            cond_signal(partner);
            cond_wait(driver);
        }
        plain_print(plain_now() - begin, a.switches);
    }
}
