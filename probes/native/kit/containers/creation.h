// Experiment create: one container is made beside the driver, entered once, ends and is removed.
#pragma once

#include "kit/containers/cgroups.h"
#include "kit/containers/inside.h"
#include "kit/experiments/creation.h"
#include "kit/plan/mechanism.h"
#include "kit/ring/shared.h"

namespace probe {

// A Creator of kit/experiments/creation.h.
class ContainerCreator {
public:
    explicit ContainerCreator(const Plan& plan);

    std::uint64_t run_one(std::uint64_t token, std::uint64_t* entered);
    std::uint64_t* counter() { return &shared_[0].entered; }
    const Births& births() const { return births_; }
    void add_counts(Counts& counts) const { counts.emplace_back("cgroups", cgroups_.in_use()); }

private:
    struct SharedState {
        std::uint64_t entered;
        StepFailure failure;
    };

    [[noreturn]] void enter(int join, std::uint64_t* entered);

    ContainerCgroups cgroups_;
    ContainerKind kind_;
    SharedArray<SharedState> shared_;
    Births births_;
};

}  // namespace probe
