// Chooses the file with this architecture's special instructions.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include "kit/os/arch_x86_64.h"
#elif defined(__aarch64__)
#include "kit/os/arch_aarch64.h"
#elif defined(__riscv) && __riscv_xlen == 64
#include "kit/os/arch_riscv64.h"
#else
#error "no kit/os/arch_<architecture>.h for this target yet; copy kit/os/arch_x86_64.h and keep the names"
#endif

#ifndef __x86_64__
namespace probe::arch {

// Vector registers of the names that the parameter `simd` has: none here.
struct VectorState {
    const char* name;
    std::uint64_t bits;
    bool (*is_here)();
    void (*dirty)();
};
inline constexpr VectorState vector_states[] = {{"", 0, nullptr, nullptr}};
inline std::uint64_t vector_state_in_use() { return 0; }

// Nothing is known of the factor: no compiler makes one step of several.
[[gnu::always_inline]] inline std::uint64_t times_three(std::uint64_t value) {
    value *= 3;
    asm volatile("" : "+r"(value));
    return value;
}

}  // namespace probe::arch
#endif
