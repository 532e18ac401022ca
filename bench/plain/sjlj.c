#include <setjmp.h>
#include <ucontext.h>

#include "plain.h"

// Not longjmp: with -D_FORTIFY_SOURCE that checks the direction of the jump and aborts.
extern void plain_longjmp(struct __jmp_buf_tag*, int) __asm__("_longjmp") __attribute__((noreturn));

static jmp_buf driver, partner;
static ucontext_t entrance, leave;
static char stack[16384];

static void live(void) {
    if (_setjmp(partner) == 0) setcontext(&leave);
    for (;;) {
        if (_setjmp(partner) == 0) plain_longjmp(driver, 1);
    }
}

int main(int argc, char** argv) {
    struct plain_arguments a = plain_start(argc, argv);
    getcontext(&entrance);
    entrance.uc_stack.ss_sp = stack;
    entrance.uc_stack.ss_size = sizeof stack;
    makecontext(&entrance, live, 0);
    swapcontext(&leave, &entrance);
    for (volatile int b = 0; b < a.batches; b++) {
        uint64_t begin = plain_now();
        for (volatile uint64_t i = 0; i < a.switches; i += 2) {
            if (_setjmp(driver) == 0) plain_longjmp(partner, 1);
        }
        plain_print(plain_now() - begin, a.switches);
    }
}
