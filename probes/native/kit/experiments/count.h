// Experiment count: nothing is timed. The host runs the probe under callgrind, which counts what it executes, and the
// kit says where the units begin and end. A batch is done in two stretches of different length, whose difference has
// neither the way into the loop in it nor the way out.
#pragma once

#include <cstdint>
#include <vector>

#include "kit/os/arch.h"
#include "kit/os/os.h"
#include "kit/plan/failure.h"
#include "kit/plan/mechanism.h"

namespace probe {

// The first stretch of a batch is one part of so many, the second all others.
inline constexpr std::uint64_t parts_of_a_counted_batch = 3;

// Callgrind writes what it has counted since the last time, and begins anew (callgrind.h: CALLGRIND_DUMP_STATS).
inline constexpr std::uint64_t callgrind_writes = (std::uint64_t{'C'} << 24) | (std::uint64_t{'T'} << 16);

// Never inlined: all stretches are the same code.
[[gnu::noinline]] inline void run_stretch(Workload& workload, std::uint64_t units) {
    arch::ask_valgrind(callgrind_writes);
    workload.run(units);
    arch::ask_valgrind(callgrind_writes);
}

// One batch; gives the kernel switches of the calling task meanwhile.
inline std::uint64_t run_counted_batch(Workload& workload, std::uint64_t units) {
    const std::vector<TaskId> self{os::current_task()};
    const os::KernelSwitches before = os::kernel_switches(self).value_or(os::KernelSwitches{});
    const std::uint64_t first = units / parts_of_a_counted_batch;
    run_stretch(workload, first);
    run_stretch(workload, units - first);
    const os::KernelSwitches after = os::kernel_switches(self).value_or(os::KernelSwitches{});
    return after.voluntary + after.involuntary - before.voluntary - before.involuntary;
}

// What cannot be read must not be told as zero.
inline void check_countable(const Workload& workload) {
    if (!os::kernel_switches(workload.tasks())) throw unsupported("unsupported_here", os::kernel_switches_unknown());
}

inline constexpr Untimed counted{"kernel_switches", parts_of_a_counted_batch, &check_countable, &run_counted_batch};

}  // namespace probe
