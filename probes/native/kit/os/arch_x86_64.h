// Every special instruction of x86-64 that the probe uses, one named inline function each. Another architecture is
// another file with the same names; kit/os/arch.h chooses.
#pragma once

#include <cstddef>
#include <cstdint>

namespace probe::arch {

inline constexpr const char* counter_name = "tsc, lfence;rdtsc before a switch and rdtscp;lfence after it";

// Reads the cycle counter before a switch. `lfence` holds the read back until everything before it (the recording of
// the last interval) has completed, so that none of it is charged to the switch. No fence after it: what follows is the
// switch itself.
[[gnu::always_inline]] inline std::uint64_t counter_before() {
    std::uint32_t low, high;
    asm volatile("lfence\n\trdtsc" : "=a"(low), "=d"(high) : : "memory");
    return (std::uint64_t{high} << 32) | low;
}

// Reads the cycle counter after a switch. `rdtscp` waits until everything before it has executed, which is what "the
// partner runs" means; `lfence` keeps the recording behind it from starting early. It clobbers ecx with the number of
// the CPU.
[[gnu::always_inline]] inline std::uint64_t counter_after() {
    std::uint32_t low, high;
    asm volatile("rdtscp\n\tlfence" : "=a"(low), "=d"(high) : : "ecx", "memory");
    return (std::uint64_t{high} << 32) | low;
}

// Reads the cycle counter with no fence at all, as many benchmarks do: what stands before may still be under way, and
// what stands after may have begun. Only for showing what that does to a figure (parameter reads=bare).
[[gnu::always_inline]] inline std::uint64_t counter_bare() {
    std::uint32_t low, high;
    asm volatile("rdtsc" : "=a"(low), "=d"(high) : : "memory");
    return (std::uint64_t{high} << 32) | low;
}

// Asks valgrind, if this runs under it, for what `request` is (valgrind.h: the client request mechanism). A CPU does
// nothing here: the rotations of rdi add up to 128 bits.
[[gnu::noinline]] inline void ask_valgrind(std::uint64_t request) {
    const std::uint64_t arguments[6] = {request};
    std::uint64_t answer = 0;
    asm volatile("rolq $3, %%rdi\n\trolq $13, %%rdi\n\trolq $61, %%rdi\n\trolq $51, %%rdi\n\txchgq %%rbx, %%rbx"
                 : "+d"(answer)
                 : "a"(&arguments[0])
                 : "cc", "memory");
}

// Tells the CPU that this is a loop which waits for another CPU's store.
[[gnu::always_inline]] inline void spin_pause() { asm volatile("pause"); }

// A 32-bit word of the calling thread's own memory, `offset` bytes from its thread pointer. Read anew each time.
[[gnu::always_inline]] inline std::uint32_t word_of_thread(std::ptrdiff_t offset) {
    std::uint32_t word;
    asm volatile("movl %%fs:(%1), %0" : "=r"(word) : "r"(offset));
    return word;
}

// MXCSR with all exceptions masked and no sticky flag, the state in which Linux starts every program.
inline constexpr std::uint32_t mxcsr_clean = 0x1f80;
// The same after one inexact result: what any program has after its first division.
inline constexpr std::uint32_t mxcsr_inexact = 0x1fa0;

inline void load_mxcsr(std::uint32_t value) { asm volatile("ldmxcsr %0" : : "m"(value)); }

inline std::uint32_t store_mxcsr() {
    std::uint32_t value = 0;
    asm volatile("stmxcsr %0" : "=m"(value));
    return value;
}

// The x87 control word of the System V ABI at process start: 64-bit mantissa, everything masked.
inline void load_default_x87_control_word() {
    const std::uint16_t value = 0x037f;
    asm volatile("fldcw %0" : : "m"(value));
}

// What Boost.Context's jump saves and loads: MXCSR and the x87 control word. Nothing changes.
[[gnu::always_inline]] inline void save_and_load_fpu_control() {
    std::uint32_t mxcsr;
    std::uint16_t control;
    asm volatile("stmxcsr %0\n\tfnstcw %1\n\tldmxcsr %0\n\tfldcw %1" : "=m"(mxcsr), "=m"(control));
}

// What glibc's swapcontext saves and loads: MXCSR and the whole x87 environment (28 bytes). `fnstenv` masks all
// exceptions, `fldenv` loads the masks that were.
[[gnu::always_inline]] inline void save_and_load_fpu_environment() {
    std::uint32_t mxcsr;
    char environment[28];
    asm volatile("fnstenv %1\n\tstmxcsr %0\n\tfldenv %1\n\tldmxcsr %0" : "=m"(mxcsr), "=m"(environment));
}

}  // namespace probe::arch
