#include <ucontext.h>

#include "plain.h"

static ucontext_t driver, partner;
static char stack[16384];

static void live(void) {
    for (;;) swapcontext(&partner, &driver);
}

int main(int argc, char** argv) {
    struct plain_arguments a = plain_start(argc, argv);
    getcontext(&partner);
    partner.uc_stack.ss_sp = stack;
    partner.uc_stack.ss_size = sizeof stack;
    makecontext(&partner, live, 0);
    for (int b = 0; b < a.batches; b++) {
        uint64_t begin = plain_now();
        for (uint64_t i = 0; i < a.switches; i += 2) swapcontext(&driver, &partner);
        plain_print(plain_now() - begin, a.switches);
    }
}
