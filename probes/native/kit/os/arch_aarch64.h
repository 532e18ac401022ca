// Every special instruction of AArch64 that the probe uses, under the names of kit/os/arch_x86_64.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace probe::arch {

// The generic timer's virtual count: the only counter that Linux lets user space read. It ticks at 1 GHz from Armv8.6
// on and at 10 to 100 MHz before, so that a single interval is coarse there; sums and means are not.
inline constexpr const char* counter_name = "cntvct_el0, isb;mrs before a switch and isb;mrs;isb after it";

// Reads the counter before a switch. `isb` holds the read back until everything before it has completed; without it
// the read may be carried out early (Arm ARM, D11.1.2). No barrier after it: what follows is the switch itself.
[[gnu::always_inline]] inline std::uint64_t counter_before() {
    std::uint64_t count;
    asm volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(count) : : "memory");
    return count;
}

// Reads the counter after a switch. The second `isb` keeps the recording behind it from starting early.
[[gnu::always_inline]] inline std::uint64_t counter_after() {
    std::uint64_t count;
    asm volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(count) : : "memory");
    return count;
}

// Reads the counter with no barrier at all, as many benchmarks do. Only for showing what that does to a figure
// (parameter reads=bare).
[[gnu::always_inline]] inline std::uint64_t counter_bare() {
    std::uint64_t count;
    asm volatile("mrs %0, cntvct_el0" : "=r"(count) : : "memory");
    return count;
}

// Asks valgrind, if this runs under it, for what `request` is (valgrind.h: the client request mechanism). A CPU does
// nothing here: the rotations of x12 add up to 128 bits.
[[gnu::noinline]] inline void ask_valgrind(std::uint64_t request) {
    const std::uint64_t arguments[6] = {request};
    register std::uint64_t answer asm("x3") = 0;
    register const std::uint64_t* where asm("x4") = arguments;
    asm volatile("ror x12, x12, #3\n\tror x12, x12, #13\n\tror x12, x12, #51\n\tror x12, x12, #61\n\torr x10, x10, x10"
                 : "+r"(answer)
                 : "r"(where)
                 : "cc", "memory");
}

// A 32-bit word of the calling thread's own memory, `offset` bytes from its thread pointer. Read anew each time.
[[gnu::always_inline]] inline std::uint32_t word_of_thread(std::ptrdiff_t offset) {
    return *reinterpret_cast<volatile std::uint32_t*>(static_cast<char*>(__builtin_thread_pointer()) + offset);
}

// Tells the CPU that this is a loop which waits for another CPU's store. `yield` does nothing on most cores; `isb`
// waits a little.
[[gnu::always_inline]] inline void spin_pause() { asm volatile("isb" : : : "memory"); }

// FPSR takes MXCSR's part: its cumulative inexact flag (IXC, bit 4) is what a division leaves behind. No switch here
// saves FPSR, so that `fpu_state=differ` differs from `equal` in nothing but the flag's value.
inline constexpr std::uint32_t mxcsr_clean = 0;
inline constexpr std::uint32_t mxcsr_inexact = 0x10;

inline void load_mxcsr(std::uint32_t value) { asm volatile("msr fpsr, %0" : : "r"(std::uint64_t{value})); }

inline std::uint32_t store_mxcsr() {
    std::uint64_t value = 0;
    asm volatile("mrs %0, fpsr" : "=r"(value));
    return static_cast<std::uint32_t>(value);
}

inline void load_default_x87_control_word() {}  // there is none

// Boost.Context's jump saves no such word here.
[[gnu::always_inline]] inline void save_and_load_fpu_control() { asm volatile(""); }

// What glibc's swapcontext saves and loads: FPSR and FPCR. Nothing changes.
[[gnu::always_inline]] inline void save_and_load_fpu_environment() {
    std::uint64_t status, control;
    asm volatile("mrs %0, fpsr\n\tmrs %1, fpcr\n\tmsr fpsr, %0\n\tmsr fpcr, %1" : "=&r"(status), "=&r"(control));
}

}  // namespace probe::arch
