// Where contexts that live on the heap lie inside their pages (parameter `heap_offset`): behind a drawn number of
// blocks of every size, since the first free places of a fresh heap are the same in every start.
#pragma once

#include <memory>
#include <vector>

#include "kit/plan/drawn.h"
#include "kit/plan/mechanism.h"

namespace probe {

using Blocks = std::vector<std::unique_ptr<char[]>>;

// To be kept as long as the contexts live. None where the plan says so, or has no ring.
inline Blocks heap_blocks(const Plan& plan) {
    constexpr std::size_t largest = 1024;
    constexpr std::size_t step = 16;
    constexpr std::uint64_t most_of_a_size = 16;
    Blocks blocks;
    const auto asked = plan.parameters.find("heap_offset");
    if (!plan.asked->ring || asked == plan.parameters.end() || asked->second == "fixed") return blocks;
    for (std::size_t size = step; size <= largest; size += step) {
        for (std::uint64_t count = drawn(plan.seed, size / step) % most_of_a_size; count > 0; --count)
            blocks.push_back(std::make_unique<char[]>(size));
    }
    return blocks;
}

inline Parameter heap_offset_parameter() { return {"heap_offset", {"drawn", "fixed"}}; }

}  // namespace probe
