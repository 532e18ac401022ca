// A jump from one stack to another by setjmp and longjmp, as the headers give them. Whether it is let through depends
// on the C library's checks.
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

static ucontext_t entrance, exit_context;
static jmp_buf here, there;
static volatile long turns;

static void other_stack(void) {
    if (_setjmp(there) == 0) setcontext(&exit_context);
    for (;;) {
        ++turns;
        if (_setjmp(there) == 0) longjmp(here, 1);
    }
}

int main(void) {
    static const unsigned long size = 64 * 1024;
    getcontext(&entrance);
    entrance.uc_stack.ss_sp = malloc(size);
    entrance.uc_stack.ss_size = size;
    entrance.uc_link = NULL;
    makecontext(&entrance, other_stack, 0);
    swapcontext(&exit_context, &entrance);
    for (volatile int i = 0; i < 1000; ++i) {
        if (_setjmp(here) == 0) longjmp(there, 1);
    }
    return turns == 1000 ? 0 : 2;
}
