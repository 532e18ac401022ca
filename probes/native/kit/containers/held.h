// Experiment footprint of containers: each holds one process, number 1 of its pid namespace, which counts itself and
// sleeps.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "kit/containers/cgroups.h"
#include "kit/containers/inside.h"
#include "kit/ring/shared.h"
#include "kit/tasks/held.h"

namespace probe {

class HeldContainers final : public Held {
public:
    explicit HeldContainers(const Plan& plan);  // throws Failure
    void add_counts(Counts& counts) const override { counts.emplace_back("cgroups", cgroups_.in_use()); }
    std::optional<MemoryGain> memory_gain() const override { return gain_of(sleepers_.ids, kernel_before_); }

private:
    // Ended and reaped before the control groups go.
    struct Sleepers {
        std::vector<pid_t> ids;
        ~Sleepers();
    };

    [[noreturn]] void live(std::uint32_t container, int join);

    ContainerCgroups cgroups_;
    ContainerKind kind_;
    SharedArray<StepFailure> refused_;  // of any of them
    std::int64_t kernel_before_ = 0;
    Sleepers sleepers_;
};

}  // namespace probe
