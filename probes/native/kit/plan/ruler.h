// Rulers: fixed pieces of work that have nothing to do with the mechanism. What they take right before and right after
// a batch says how fast the machine was then, whatever the batch itself says.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "kit/os/clock.h"
#include "kit/os/null_calls.h"

namespace probe {

// In clock ticks, in the order of `ruler_names`.
using Ruler = std::array<std::uint64_t, 3>;
inline constexpr std::array<const char*, 3> ruler_names{"chain", "width", "calls"};
inline constexpr std::size_t rulers_here = os::has_null_calls ? 3 : 2;

// Steps that each wait for the one before: a multiplication and an addition, four cycles on today's x86-64. Only the
// clock's rate changes it, not a neighbour on the same core.
inline constexpr int chain_steps = 512;
#if defined(__x86_64__) || defined(_M_X64)
inline constexpr int chain_cycles = 4 * chain_steps;
#else
inline constexpr int chain_cycles = 0;  // unknown
#endif

[[gnu::noinline]] inline void chain_of_cycles() {
    std::uint64_t value = 1;
    for (int step = 0; step < chain_steps; ++step) {
        value = value * 6364136223846793005 + 1442695040888963407;
        asm volatile("" : "+r"(value));
    }
}

// Steps of which a core takes several per cycle: a neighbour on the same core takes its share of them.
[[gnu::noinline]] inline void width_of_core() {
    std::uint64_t a = 1, b = 2, c = 3, d = 4, e = 5, f = 6;
    for (int step = 0; step < 512; ++step) {
        ++a, ++b, ++c, ++d, ++e, ++f;
        asm volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f));
    }
}

inline Ruler read_ruler() {
    const std::uint64_t begin = clock_now();
    chain_of_cycles();
    const std::uint64_t chain = clock_now();
    width_of_core();
    const std::uint64_t width = clock_now();
    // The first calls after a batch find the kernel's code anywhere but in the nearest cache.
    os::null_calls();
    const std::uint64_t warm = clock_now();
    os::null_calls();
    return {chain - begin, width - chain, clock_now() - warm};
}

// The slower of two, each by itself.
inline Ruler slower(const Ruler& left, const Ruler& right) {
    Ruler result;
    std::transform(left.begin(), left.end(), right.begin(), result.begin(),
                   [](std::uint64_t a, std::uint64_t b) { return std::max(a, b); });
    return result;
}

}  // namespace probe
