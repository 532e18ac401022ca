// What a start draws from its seed, which is another in every start.
#pragma once

#include <cstdint>

namespace probe {

// Number 1, 2 … of a seed, by SplitMix64: seeds of neighbouring starts have nothing in common.
constexpr std::uint64_t drawn(std::uint64_t seed, std::uint64_t number) {
    seed += number * 0x9E3779B97F4A7C15;
    seed = (seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9;
    seed = (seed ^ (seed >> 27)) * 0x94D049BB133111EB;
    return seed ^ (seed >> 31);
}

}  // namespace probe
