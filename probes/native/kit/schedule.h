// The scheduling class of the tasks (parameter `sched`).
#pragma once

#include <cstdint>
#include <span>

#include "kit/mechanism.h"
#include "kit/plan.h"

namespace probe {

inline Parameter sched_parameter() { return {"sched", "other", {"other", "fifo", "batch"}}; }

// Puts the calling task into the class that the plan asks for; whatever it makes afterwards inherits it. Throws Failure no_permission.
void schedule_self(const Plan& plan);

// How many of the tasks are in the class that the plan asks for, as the kernel says.
std::int64_t tasks_scheduled(std::span<const TaskId> tasks, const Plan& plan);

}  // namespace probe
