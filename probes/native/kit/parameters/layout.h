// Where the contexts of a ring lie in memory (parameter `layout`). In the order of the ring each lies right above the
// one before it, as contexts do that are made one after the other; a prefetcher may follow that, and for some
// mechanisms it does. Scattered, neighbours of the ring lie far apart, at two alternating distances, as contexts do
// that become ready in any order.
#pragma once

#include <cstdint>
#include <vector>

#include "kit/plan/plan.h"

namespace probe {

struct Parameter;

// The number nearest to the golden section of `count` from above that has no divisor in common with it: steps of it,
// modulo `count`, go to each place once.
std::uint64_t golden_step(std::uint64_t count);

class Layout {
public:
    // Of `count` contexts; in order for mechanisms without the parameter.
    Layout(const Plan& plan, std::uint32_t count);

    // Place in memory of the contexts 0, 1 …
    std::uint32_t place(std::uint32_t index) const { return static_cast<std::uint32_t>(index * step_ % count_); }
    // Contexts of the places 0, 1 …
    std::vector<std::uint32_t> by_place() const;

private:
    std::uint64_t count_;
    std::uint64_t step_;
};

Parameter layout_parameter();

}  // namespace probe
