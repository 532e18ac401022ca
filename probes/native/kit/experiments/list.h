// The experiments that mechanisms of a kind have, and how those are carried out that list.cpp names.
#pragma once

#include <initializer_list>

#include "kit/plan/mechanism.h"
#include "kit/plan/report.h"

namespace probe {

// Contexts in one thread, tasks that are connected by links.
inline constexpr std::initializer_list<const char*> of_stacks = {"switch", "create", "footprint", "count"};
inline constexpr std::initializer_list<const char*> of_links = {"switch", "message"};

// Throws Failure where list.cpp lacks it.
const Experiment& find_experiment(std::string_view name);

// Batches of a workload. Sends everything from the plan on.
void measure_batches(Reporter& reporter, const Plan& plan, const Entry& entry);

// Cycles of making, running once, reading the memory and destroying. Sends the same.
void measure_footprint(Reporter& reporter, const Plan& plan, const Entry& entry);

}  // namespace probe
