// What looks at the system calls of a mechanism's tasks (parameter `wall`).
#pragma once

#include "kit/plan/mechanism.h"
#include "kit/plan/plan.h"

namespace probe {

// Puts the wall round the calling task, and round whatever it makes afterwards. Throws Failure.
void build_wall(const Plan& plan);

// Of the attempts to make a file in two folders, how many a wall that forbids it refused.
std::int64_t files_refused(const Plan& plan);

inline Parameter wall_parameter() {
    Parameter parameter{"wall", {"seccomp", "arguments", "landlock", "both", "none"}};
    parameter.apply = &build_wall;
    parameter.count = [](const Counting& counting, Counts& counts) {
        counts.emplace_back("files_refused", files_refused(counting.plan));
    };
    return parameter;
}

}  // namespace probe
