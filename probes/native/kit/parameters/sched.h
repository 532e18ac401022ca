// The scheduling class of the tasks (parameter `sched`).
#pragma once

#include <cstdint>
#include <span>

#include "kit/plan/mechanism.h"
#include "kit/plan/plan.h"

namespace probe {

// Puts the calling task into the class that the plan asks for; whatever it makes afterwards inherits it. Throws Failure
// no_permission.
void schedule_self(const Plan& plan);

// How many of the tasks are in the class that the plan asks for, as the kernel says.
std::int64_t tasks_scheduled(std::span<const TaskId> tasks, const Plan& plan);

inline Parameter sched_parameter() {
    Parameter parameter{"sched", {"other", "fifo", "rr", "batch", "idle"}};
    parameter.apply = &schedule_self;
    parameter.count = [](const Counting& counting, Counts& counts) {
        counts.emplace_back("tasks_scheduled", tasks_scheduled(counting.tasks, counting.plan));
    };
    return parameter;
}

}  // namespace probe
