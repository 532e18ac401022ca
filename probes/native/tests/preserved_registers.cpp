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
#elif defined(__riscv) && __riscv_xlen == 64
// s0 is left to the compiler, which may need it for its frame.
constexpr int count = 23;
void switch_with(std::uint64_t* registers, void** save, void* to) {
    register std::uint64_t* block asm("a3") = registers;
    register void** first asm("a0") = save;
    register void* second asm("a1") = to;
    asm volatile(
        "ld s1, 0(a3)\n\tld s2, 8(a3)\n\tld s3, 16(a3)\n\tld s4, 24(a3)\n\tld s5, 32(a3)\n\tld s6, 40(a3)\n\t"
        "ld s7, 48(a3)\n\tld s8, 56(a3)\n\tld s9, 64(a3)\n\tld s10, 72(a3)\n\tld s11, 80(a3)\n\tfld fs0, 88(a3)\n\t"
        "fld fs1, 96(a3)\n\tfld fs2, 104(a3)\n\tfld fs3, 112(a3)\n\tfld fs4, 120(a3)\n\tfld fs5, 128(a3)\n\tfld fs6, 136(a3)\n\t"
        "fld fs7, 144(a3)\n\tfld fs8, 152(a3)\n\tfld fs9, 160(a3)\n\tfld fs10, 168(a3)\n\tfld fs11, 176(a3)\n\t"
        "addi sp, sp, -16\n\tsd a3, 0(sp)\n\t"
        "call " SWITCHCOST_SYMBOL_TEXT("switchcost_stack_switch") "\n\t"
        "ld a3, 0(sp)\n\taddi sp, sp, 16\n\t"
        "sd s1, 0(a3)\n\tsd s2, 8(a3)\n\tsd s3, 16(a3)\n\tsd s4, 24(a3)\n\tsd s5, 32(a3)\n\tsd s6, 40(a3)\n\t"
        "sd s7, 48(a3)\n\tsd s8, 56(a3)\n\tsd s9, 64(a3)\n\tsd s10, 72(a3)\n\tsd s11, 80(a3)\n\tfsd fs0, 88(a3)\n\t"
        "fsd fs1, 96(a3)\n\tfsd fs2, 104(a3)\n\tfsd fs3, 112(a3)\n\tfsd fs4, 120(a3)\n\tfsd fs5, 128(a3)\n\tfsd fs6, 136(a3)\n\t"
        "fsd fs7, 144(a3)\n\tfsd fs8, 152(a3)\n\tfsd fs9, 160(a3)\n\tfsd fs10, 168(a3)\n\tfsd fs11, 176(a3)\n\t"
        : "+r"(block), "+r"(first), "+r"(second)
        :
        : "a2", "a4", "a5", "a6", "a7", "t0", "t1", "t2", "t3", "t4", "t5", "t6", "ra", "s1", "s2", "s3",
          "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "fs0", "fs1", "fs2", "fs3", "fs4", "fs5", "fs6", "fs7",
          "fs8", "fs9", "fs10", "fs11", "ft0", "ft1", "ft2", "ft3", "ft4", "ft5", "ft6", "ft7", "ft8", "ft9", "ft10", "ft11",
          "fa0", "fa1", "fa2", "fa3", "fa4", "fa5", "fa6", "fa7", "memory");
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
