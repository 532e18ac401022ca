// The floating-point state of the contexts (parameter `fpu_state`): `differ` sets the sticky inexact flag in context 0
// alone, so that a switch which saves the state writes a value that differs.
#pragma once

#include "kit/os/arch.h"
#include "kit/plan/mechanism.h"

namespace probe {

inline Parameter fpu_state_parameter() {
    Parameter parameter{"fpu_state", {"equal", "differ"}};
    parameter.enter = [](const Plan& plan) {
        if (plan.text("fpu_state") == "differ") arch::load_mxcsr(arch::mxcsr_inexact);
    };
    parameter.count = [](const Counting& counting, Counts& counts) {
        if (counting.mxcsr_values != 0)
            counts.emplace_back("mxcsr_distinct", static_cast<std::int64_t>(counting.mxcsr_values));
    };
    return parameter;
}

}  // namespace probe
