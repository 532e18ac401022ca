// What shows that the units claimed did happen: the counters of the workload and of the kernel before and after the
// batches, and the message made of their difference.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "kit/os/os.h"
#include "kit/plan/mechanism.h"
#include "kit/plan/report.h"

namespace probe {

// As they stand between two batches.
struct Counters {
    std::vector<std::uint64_t> turns;
    std::uint64_t token = 0;
    std::uint64_t mismatches = 0;
    std::uint64_t touches = 0;
    bool faults_known = false;
    os::PageFaults faults;
    std::optional<os::KernelSwitches> kernel;
    std::optional<std::uint64_t> cpu_time_ns;
    std::set<int> cpus;
    std::set<std::uint32_t> spaces;
    std::set<std::uint32_t> mxcsr;
};

// The kernel's counters are read nearest to the batches, so that the lap which collects the stations is not in them.
Counters read_counters_before(Workload& workload, const std::vector<TaskId>& tasks);
Counters read_counters_after(Workload& workload, const std::vector<TaskId>& tasks);

// Throws self_check_failed when a token arrived that did not carry the expected sequence number.
void check_tokens(const Counters& before, const Counters& after);

// The message `plan`, with k as it is used.
Line plan_line(const Plan& plan, std::uint64_t batch_units);

Line evidence_line(const Entry& entry, std::uint64_t units, std::uint64_t token_mask, const Counters& before,
                   const Counters& after, const std::optional<Hops>& hops, const Counts& counts);

// The object `turns` of that message.
struct Turns {
    std::uint64_t total = 0;
    std::uint64_t lowest = ~std::uint64_t{0};
    std::uint64_t highest = 0;

    void add(std::uint64_t of_one_context);
    std::string object(std::size_t contexts) const;
};

}  // namespace probe
