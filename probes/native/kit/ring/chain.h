// Work of known length: a chain of steps, each times three what the one before came to, that no processor shortens.
#pragma once

#include <cstdint>

#include "kit/os/arch.h"

namespace probe::chain {

// Eight between two branches: a loop with a branch in each cycle takes twice as long beside a busy neighbour on the
// core, which this does not feel (docs/notebook/2026-11-30-chain.md).
[[gnu::always_inline]] inline std::uint64_t multiply(std::uint64_t product, std::uint64_t steps) {
    const auto two = [](std::uint64_t of) { return arch::times_three(arch::times_three(of)); };
    for (; steps >= 8; steps -= 8) product = two(two(two(two(product))));
    for (; steps != 0; --steps) product = arch::times_three(product);
    return product;
}

// What so many steps come to from one.
inline std::uint64_t after(std::uint64_t steps) {
    std::uint64_t product = 1;
    for (std::uint64_t power = 3; steps != 0; steps >>= 1, power *= power)
        if ((steps & 1) != 0) product *= power;
    return product;
}

}  // namespace probe::chain
