// Memory that a context touches between two switches (parameter `working_set`), and the one way of touching it:
// control/touch and every ring run the same machine code over the same layout.
//
// A set is a number of cache lines. A touch adds one to the first word of a line, so that the memory itself is the
// record: the sum of the words is the number of touches, and no compiler can leave one out. The lines are visited in
// steps of about 0.618 of the set, by a number that has no divisor in common with their count: every line once,
// neighbours far apart, at two alternating distances that no stride prefetcher follows. The addresses depend on nothing
// that is loaded, so that misses may overlap.
#pragma once

#include <cstdint>

#include "kit/plan/plan.h"

namespace probe {

struct Parameter;

// What one context touches. Plain data, kept in registers or on the context's stack.
struct WorkingSet {
    char* base = nullptr;
    std::uint64_t bytes = 0;  // whole lines
    std::uint64_t step = 0;   // bytes

    // Every line once. Never inlined: see above.
    void touch() const;

    // Touches that these lines have had. Writes to each of them, so that a process which has only inherited the mapping
    // gets pages of its own here and not between two switches.
    std::uint64_t touched() const;
};

// The sets of all contexts, in one private mapping of small pages: forked processes come to have their own.
class WorkingSets {
public:
    // Throws Failure limit_reached when the contexts together would need more memory than there is.
    WorkingSets(std::uint64_t bytes_each, std::uint32_t contexts);
    WorkingSets(const WorkingSets&) = delete;
    WorkingSets& operator=(const WorkingSets&) = delete;
    ~WorkingSets();

    WorkingSet of(std::uint32_t context) const { return {base_ + pitch_ * context, bytes_, step_}; }

private:
    std::uint64_t bytes_;
    std::uint64_t step_;
    std::uint64_t pitch_;
    std::uint64_t mapped_;
    char* base_;
};

Parameter working_set_parameter();

}  // namespace probe
