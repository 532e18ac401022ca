// Whether others may steer a task's indirect branches (parameter `speculation`). A kernel that guards a task against it flushes the branch
// predictor at each switch between processes, which is a layer of the switch's cost.
#pragma once

#include <cstdint>
#include <span>

#include "kit/mechanism.h"
#include "kit/plan.h"

namespace probe {

inline Parameter speculation_parameter() { return {"speculation", "system", {"system", "guarded"}}; }

// Asks the kernel to guard the calling task if the plan says so; whatever it makes afterwards inherits that. Throws Failure no_permission
// or unsupported_here.
void guard_self(const Plan& plan);

// How many of the tasks are guarded, as the kernel says; none where the plan does not ask.
std::int64_t tasks_guarded(std::span<const TaskId> tasks, const Plan& plan);

}  // namespace probe
