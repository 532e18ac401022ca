// asm, with ten calls before each switch and ten returns after it. The calls are counted, as ours are.
#include "plain.h"

#include "asm/stack_switch.h"

alignas(64) static char stack[16384];

__attribute__((noinline)) static uint64_t below(uint64_t* entered, void** own, void** next, uint64_t token, int left) {
    ++*entered;
    token = left == 1 ? switchcost_stack_switch(own, *next, token) : below(entered, own, next, token, left - 1);
    asm volatile("" : "+r"(token));
    return token;
}

static void live(void* argument, uint64_t token) {
    void** suspended = static_cast<void**>(argument);
    static uint64_t entered;
    for (;;) token = below(&entered, &suspended[1], &suspended[0], token, 10);
}

int main(int argc, char** argv) {
    plain_arguments a = plain_start(argc, argv);
    void** suspended = static_cast<void**>(malloc(2 * sizeof(void*)));
    uint64_t entered = 0;
    suspended[1] = probe::make_initial_frame(stack + sizeof stack - 1024, &live, suspended);
    for (int b = 0; b < a.batches; b++) {
        uint64_t begin = plain_now();
        for (uint64_t i = 0; i < a.switches; i += 2) below(&entered, &suspended[0], &suspended[1], i, 10);
        plain_print(plain_now() - begin, a.switches);
    }
}
