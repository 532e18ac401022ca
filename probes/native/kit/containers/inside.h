// Making one process in namespaces of its own, and what it does first in there.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <string>

#include "kit/containers/cgroups.h"
#include "kit/plan/failure.h"
#include "kit/plan/plan.h"

namespace probe {

// Kinds of namespaces, named as in /proc/PID/ns.
inline constexpr std::array<const char*, 7> namespace_kinds = {"cgroup", "ipc", "mnt", "net", "pid", "user", "uts"};

// What every container of a plan is like. Plain data, made before the first one.
struct ContainerKind {
    ContainerKind(const Plan& plan, const ContainerCgroups& cgroups);

    bool namespaces;
    bool seccomp;
    int cgroup_version;  // 0: none
    unsigned user;       // outside
    unsigned group;
    int launcher;  // pidfd, -1 on old kernels
};

enum class Step : std::uint32_t { none, join_cgroup, map_user, make_cgroup_namespace, install_seccomp, read_identity };

struct StepFailure {
    Step step = Step::none;
    int error = 0;
};

// Like fork, with all namespaces but the control group's. `join` is from ContainerCgroups::make. -1: errno says why.
pid_t clone_container(const ContainerKind& kind, int join);

// In the new process: its end with the launcher, control group, user map, control group namespace, filter. System calls
// only.
StepFailure set_up_inside(const ContainerKind& kind, int join);

// The same where a runtime has made the container and the process has just entered it: nothing but its end and the
// filter is left.
StepFailure set_up_entered(const ContainerKind& kind, int join);

// Numbers of the namespaces that the calling process is in.
bool read_namespaces(std::array<std::uint64_t, namespace_kinds.size()>& ids);

// What forbids namespaces here, with its cure, where the system tells; empty otherwise.
std::string namespaces_forbidden();

Failure clone_failure(int error, std::uint32_t made, std::uint32_t wanted);
Failure step_failure(StepFailure failure);

}  // namespace probe
