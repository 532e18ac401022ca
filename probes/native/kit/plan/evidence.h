// What shows that the units claimed did happen: two looks at the workload, and the message made of their difference.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "kit/os/os.h"
#include "kit/plan/mechanism.h"
#include "kit/plan/report.h"

namespace probe {

// The workload as it stands between two batches.
struct Look {
    std::vector<std::uint64_t> turns;
    std::uint64_t token = 0;
    std::uint64_t mismatches = 0;
    std::uint64_t touches = 0;
    bool faults_told = false;
    std::uint64_t minor_faults = 0;
    std::uint64_t major_faults = 0;
    std::optional<os::KernelSwitches> kernel;
    std::optional<std::uint64_t> cpu_time_ns;
    std::set<int> cpus;
    std::set<std::uint32_t> spaces;
    std::set<std::uint32_t> mxcsr;
};

// The kernel's counters are read nearest to the batches, so that the lap which collects the stations is not in them.
Look look_before(Workload& workload, const std::vector<TaskId>& tasks);
Look look_after(Workload& workload, const std::vector<TaskId>& tasks);

// Throws self_check_failed when a token arrived that did not carry the expected sequence number.
void check_tokens(const Look& before, const Look& after);

Line evidence_line(const Entry& entry, std::uint64_t units, std::uint64_t token_mask, const Look& before,
                   const Look& after, const std::optional<Hops>& hops, const Counts& counts);

}  // namespace probe
