// N containers as siblings. The process that calls start() stays outside as the launcher; context 0, the driver, is the
// first container and goes on with the session from there, so that whoever reads the clock is inside like all others.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "kit/containers/cgroups.h"
#include "kit/containers/inside.h"
#include "kit/containers/runtime.h"
#include "kit/plan/mechanism.h"
#include "kit/ring/shared.h"

namespace probe {

// The parameters that all mechanisms of the family have.
std::vector<Parameter> container_parameters();

class Containers {
public:
    explicit Containers(const Plan& plan);
    Containers(const Containers&) = delete;
    Containers& operator=(const Containers&) = delete;
    ~Containers();  // in the launcher: kills and reaps what is left, then waits for the guardian to remove the groups

    // Makes them all. Returns in each container with its number, in the driver when all are ready. The launcher waits
    // in here and leaves with the driver's exit status, or throws Failure when the set-up fails or a partner dies.
    std::uint32_t start();

    // In the driver: from now on the end of the others is as it should be.
    void expect_end() { shared_[0].end_expected.store(1); }
    pid_t id(std::uint32_t container) const { return statuses_.data()[container].id; }  // as the launcher sees it
    void add_counts(Counts& counts) const;

private:
    enum State : std::uint32_t { starting, ready, refused };

    // What a container says about itself, and its id. Shared by all.
    struct ContainerStatus {
        std::atomic<std::uint32_t> state;
        StepFailure failure;
        std::array<std::uint64_t, namespace_kinds.size()> namespaces;
        std::int32_t seccomp_mode;
        pid_t id;
    };
    struct SharedState {
        std::atomic<std::uint32_t> gate;
        std::atomic<std::uint32_t> end_expected;
        std::array<std::int64_t, namespace_kinds.size()> distinct;
        std::int64_t cgroups;
        std::int64_t cgroup_level;
        std::int64_t seccomp_filters;
    };

    void begin_inside(std::uint32_t container, int join);  // in the container
    void wait_until_ready(std::uint32_t container);        // in the launcher
    void inspect();
    [[noreturn]] void supervise();
    bool reap(bool block, std::uint32_t& container, int& status);
    void end_all();

    Plan plan_;
    ContainerCgroups cgroups_;
    std::unique_ptr<ContainerRuntime> runtime_;
    ContainerKind kind_;
    SharedArray<ContainerStatus> statuses_;
    SharedArray<SharedState> shared_;
    std::vector<pid_t> living_;  // in the launcher; 0: not made or reaped
    bool is_launcher_ = true;
};

}  // namespace probe
