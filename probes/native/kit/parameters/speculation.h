// Whether others may steer a task's indirect branches (parameter `speculation`). A kernel that guards a task against it
// flushes the branch predictor at each switch between processes, which is a layer of the switch's cost.
#pragma once

#include <cstdint>
#include <span>

#include "kit/plan/mechanism.h"
#include "kit/plan/plan.h"

namespace probe {

// Asks the kernel to guard the calling task if the plan says so; whatever it makes afterwards inherits that. Throws
// Failure no_permission or unsupported_here.
void guard_self(const Plan& plan);

// How many of the tasks are guarded, as the kernel says; none where the plan does not ask.
std::int64_t tasks_guarded(std::span<const TaskId> tasks, const Plan& plan);

inline Parameter speculation_parameter() {
    Parameter parameter{"speculation", {"system", "guarded"}};
    parameter.apply = &guard_self;
    parameter.count = [](const Counting& counting, Counts& counts) {
        counts.emplace_back("tasks_guarded", tasks_guarded(counting.tasks, counting.plan));
    };
    return parameter;
}

}  // namespace probe
