// The contract of asm/stack_switch.h: what the ABI makes a callee preserve is the same after a switch as before it,
// although the other context has put other values there. Two contexts fill all those registers, hand over and look,
// three times each.
#include <cstdint>
#include <cstdio>

#include "asm/object_format.h"
#include "asm/stack_switch.h"

namespace {

#if defined(__x86_64__)
// rbp is left to the compiler, which may need it for its frame.
constexpr int count = 5;
void switch_with(std::uint64_t* registers, void** save, void* to) {
    asm volatile(
        "mov 0(%0), %%rbx\n\tmov 8(%0), %%r12\n\tmov 16(%0), %%r13\n\tmov 24(%0), %%r14\n\tmov 32(%0), %%r15\n\t"
        "push %0\n\tpush %0\n\t"
        "call " SWITCHCOST_SYMBOL_TEXT("switchcost_stack_switch") "\n\t"
        "pop %0\n\tpop %0\n\t"
        "mov %%rbx, 0(%0)\n\tmov %%r12, 8(%0)\n\tmov %%r13, 16(%0)\n\tmov %%r14, 24(%0)\n\tmov %%r15, 32(%0)"
        : "+a"(registers), "+D"(save), "+S"(to)
        :
        : "rbx", "r12", "r13", "r14", "r15", "rcx", "rdx", "r8", "r9", "r10", "r11", "memory", "cc");
}
#elif defined(__aarch64__)
// x29 is left to the compiler, which needs it for its frame.
constexpr int count = 18;
void switch_with(std::uint64_t* registers, void** save, void* to) {
    register std::uint64_t* block asm("x3") = registers;
    register void** first asm("x0") = save;
    register void* second asm("x1") = to;
    asm volatile(
        "ldp x19, x20, [x3]\n\tldp x21, x22, [x3, #16]\n\tldp x23, x24, [x3, #32]\n\tldp x25, x26, [x3, #48]\n\tldp x27, x28, [x3, #64]\n\t"
        "ldp d8, d9, [x3, #80]\n\tldp d10, d11, [x3, #96]\n\tldp d12, d13, [x3, #112]\n\tldp d14, d15, [x3, #128]\n\t"
        "str x3, [sp, #-16]!\n\t"
        "bl " SWITCHCOST_SYMBOL_TEXT("switchcost_stack_switch") "\n\t"
        "ldr x3, [sp], #16\n\t"
        "stp x19, x20, [x3]\n\tstp x21, x22, [x3, #16]\n\tstp x23, x24, [x3, #32]\n\tstp x25, x26, [x3, #48]\n\tstp x27, x28, [x3, #64]\n\t"
        "stp d8, d9, [x3, #80]\n\tstp d10, d11, [x3, #96]\n\tstp d12, d13, [x3, #112]\n\tstp d14, d15, [x3, #128]"
        : "+r"(block), "+r"(first), "+r"(second)
        :
        : "x2", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23",
          "x24", "x25", "x26", "x27", "x28", "x30", "d8", "d9", "d10", "d11", "d12", "d13", "d14", "d15", "memory", "cc");
}
#else
#error "no list of preserved registers for this architecture yet"
#endif

void* suspended[2];
int failures = 0;

void look(std::uint64_t context, std::uint64_t lap) {
    std::uint64_t registers[count];
    for (int i = 0; i < count; ++i) registers[i] = (context + 1) * 1000000 + lap * 1000 + static_cast<std::uint64_t>(i);
    switch_with(registers, &suspended[context], suspended[1 - context]);
    for (int i = 0; i < count; ++i) {
        const std::uint64_t wanted = (context + 1) * 1000000 + lap * 1000 + static_cast<std::uint64_t>(i);
        if (registers[i] == wanted) continue;
        std::printf("context %d, lap %d: register %d of the list is %llu, not %llu\n", static_cast<int>(context),
                    static_cast<int>(lap), i, static_cast<unsigned long long>(registers[i]),
                    static_cast<unsigned long long>(wanted));
        ++failures;
    }
}

void live(void* argument, std::uint64_t) {
    if (argument != &failures) {
        std::puts("a new context did not get its argument");
        ++failures;
    }
    for (std::uint64_t lap = 0;; ++lap) look(1, lap);
}

alignas(64) char stack[65536];

}  // namespace

int main() {
    suspended[1] = probe::make_initial_frame(stack + sizeof stack, &live, &failures);
    for (std::uint64_t lap = 0; lap < 3; ++lap) look(0, lap);
    return failures == 0 ? 0 : 1;
}
