// The probe's own switch routine in the shortest loop there is. The two stack pointers lie on the heap and are reached
// through a register: as static variables they cost 2.2 ns per switch instead of 1.7 (see METHODOLOGY.md), with the
// same instructions otherwise.
#include "plain.h"

#include "asm/stack_switch.h"

alignas(64) static char stack[16384];

static void live(void* argument, uint64_t token) {
    void** suspended = static_cast<void**>(argument);
    for (;;) token = switchcost_stack_switch(&suspended[1], suspended[0], token);
}

int main(int argc, char** argv) {
    plain_arguments a = plain_start(argc, argv);
    void** suspended = static_cast<void**>(malloc(2 * sizeof(void*)));
    suspended[1] = probe::make_initial_frame(stack + sizeof stack - 1024, &live, suspended);
    for (int b = 0; b < a.batches; b++) {
        uint64_t begin = plain_now();
        for (uint64_t i = 0; i < a.switches; i += 2) switchcost_stack_switch(&suspended[0], suspended[1], i);
        plain_print(plain_now() - begin, a.switches);
    }
}
