#include "plain.h"

#include "asm/control_call.h"

int main(int argc, char** argv) {
    plain_arguments a = plain_start(argc, argv);
    uint64_t (*volatile pointer)(uint64_t) = &switchcost_control_callee;
    for (int b = 0; b < a.batches; b++) {
        auto callee = pointer;
        uint64_t begin = plain_now(), sum = 0;
        for (uint64_t i = 0; i < a.switches; i++) sum = callee(sum);
        plain_print(plain_now() - begin, a.switches);
    }
}
