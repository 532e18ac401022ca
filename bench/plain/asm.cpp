// The probe's own switch routine in the shortest loop there is.
#include "plain.h"

#include "asm/stack_switch.h"

static void *driver, *partner;
alignas(64) static char stack[16384];

static void live(void*, uint64_t token) {
    for (;;) token = switchcost_stack_switch(&partner, driver, token);
}

int main(int argc, char** argv) {
    plain_arguments a = plain_start(argc, argv);
    partner = probe::make_initial_frame(stack + sizeof stack - 1024, &live, nullptr);
    for (int b = 0; b < a.batches; b++) {
        uint64_t begin = plain_now();
        for (uint64_t i = 0; i < a.switches; i += 2) switchcost_stack_switch(&driver, partner, i);
        plain_print(plain_now() - begin, a.switches);
    }
}
