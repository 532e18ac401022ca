#include "kit/containers/held.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "kit/os/limits.h"
#include "kit/os/posix.h"

namespace probe {
namespace {

// Resident and kernel memory of a container with one process, generously.
constexpr std::uint64_t container_bytes = 1 << 20;

}  // namespace

HeldContainers::HeldContainers(const Plan& plan) : Held(plan), cgroups_(plan), kind_(plan, cgroups_), refused_(1) {
    require_memory(container_bytes * plan.contexts, "use fewer contexts");
    sleepers_.ids.reserve(plan.contexts);
    kernel_before_ = settled_kernel_memory_of_machine();
    for (std::uint32_t i = 1; i < plan.contexts; ++i) {
        const int join = cgroups_.make(i);
        const pid_t child = clone_container(kind_, join);
        if (child == 0) live(i, join);
        const int error = errno;
        if (join != -1) ::close(join);
        if (child == -1) throw clone_failure(error, i - 1, plan.contexts - 1);
        sleepers_.ids.push_back(child);
    }
    sleeping_.wait_for(plan.contexts - 1);
    if (refused_[0].step != Step::none) throw step_failure(refused_[0]);
}

void HeldContainers::live(std::uint32_t container, int join) {
    cgroups_.guardian().forget();
    const StepFailure failure = set_up_inside(kind_, join);
    if (failure.step != Step::none) refused_[0] = failure;
    // Number 1 of a pid namespace of its own, or it is not a container and not counted.
    sleeping_.sleep_in_child(container, failure.step == Step::none && (!kind_.namespaces || getpid() == 1));
    _exit(0);
}

HeldContainers::Sleepers::~Sleepers() {
    for (const pid_t id : ids) kill(id, SIGKILL);
    for (const pid_t id : ids) wait_for(id);
}

}  // namespace probe
