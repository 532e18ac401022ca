// Every special instruction of RV64 that the probe uses, under the names of kit/os/arch_x86_64.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace probe::arch {

// The timer: the only counter that Linux lets user space read since 6.6 (rdcycle traps). It ticks at 1 to 100 MHz, so
// that a single interval is coarse; sums and means are not.
inline constexpr const char* counter_name = "time, fence;rdtime before a switch and fence;rdtime;fence after it";

// Reads the counter before a switch. Reads of counters are device input to a fence (unprivileged ISA, Zicsr), which
// holds this one back until all memory accesses before it have been carried out. No fence after it: what follows is the
// switch itself.
[[gnu::always_inline]] inline std::uint64_t counter_before() {
    std::uint64_t count;
    asm volatile("fence iorw, iorw\n\trdtime %0" : "=r"(count) : : "memory");
    return count;
}

// Reads the counter after a switch. The second fence keeps the recording behind it from starting early.
[[gnu::always_inline]] inline std::uint64_t counter_after() {
    std::uint64_t count;
    asm volatile("fence iorw, iorw\n\trdtime %0\n\tfence iorw, iorw" : "=r"(count) : : "memory");
    return count;
}

// Reads the counter with no barrier at all, as many benchmarks do. Only for showing what that does to a figure
// (parameter reads=bare).
[[gnu::always_inline]] inline std::uint64_t counter_bare() {
    std::uint64_t count;
    asm volatile("rdtime %0" : "=r"(count) : : "memory");
    return count;
}

// Nobody to ask: the host runs no probe of this processor under valgrind.
inline void ask_valgrind(std::uint64_t) {}

// A 32-bit word of the calling thread's own memory, `offset` bytes from its thread pointer. Read anew each time.
[[gnu::always_inline]] inline std::uint32_t word_of_thread(std::ptrdiff_t offset) {
    return *reinterpret_cast<volatile std::uint32_t*>(static_cast<char*>(__builtin_thread_pointer()) + offset);
}

// Tells the CPU that this is a loop which waits for another CPU's store: `pause` of Zihintpause, which is a fence that
// orders nothing where the CPU does not know it. Older assemblers do not know its name.
[[gnu::always_inline]] inline void spin_pause() { asm volatile(".4byte 0x0100000f" : : : "memory"); }

// fcsr takes MXCSR's part: its flag of inexact results (NX, bit 0) is what a division leaves behind. No switch here
// saves fcsr, so that `fpu_state=differ` differs from `equal` in nothing but the flag's value.
inline constexpr std::uint32_t mxcsr_clean = 0;
inline constexpr std::uint32_t mxcsr_inexact = 0x01;

inline void load_mxcsr(std::uint32_t value) { asm volatile("fscsr %0" : : "r"(std::uint64_t{value})); }

inline std::uint32_t store_mxcsr() {
    std::uint64_t value = 0;
    asm volatile("frcsr %0" : "=r"(value));
    return static_cast<std::uint32_t>(value);
}

inline void load_default_x87_control_word() {}  // there is none

// Boost.Context's jump saves no such word here.
[[gnu::always_inline]] inline void save_and_load_fpu_control() { asm volatile(""); }

// What glibc's swapcontext saves and loads: fcsr. Nothing changes.
[[gnu::always_inline]] inline void save_and_load_fpu_environment() {
    std::uint64_t all;
    asm volatile("frcsr %0\n\tfscsr %0" : "=&r"(all));
}

}  // namespace probe::arch
