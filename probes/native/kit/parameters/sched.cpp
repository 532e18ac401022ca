#include "kit/parameters/sched.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "kit/os/procfs.h"
#include "kit/plan/failure.h"

namespace probe {
namespace {

// The kernel's own calls: musl's functions of these names refuse, since POSIX means processes by them.
long class_of(int thread) { return syscall(SYS_sched_getscheduler, thread); }

constexpr std::array<std::pair<std::string_view, int>, 5> classes = {{
    {"other", SCHED_OTHER},
    {"fifo", SCHED_FIFO},
    {"rr", SCHED_RR},
    {"batch", SCHED_BATCH},
    {"idle", SCHED_IDLE},
}};

int policy_of(const Plan& plan) {
    return std::find_if(classes.begin(), classes.end(),
                        [&](const auto& known) { return known.first == plan.text("sched"); })
        ->second;
}

bool is_real_time(int policy) { return policy == SCHED_FIFO || policy == SCHED_RR; }

// Where the kernel groups real-time tasks, a control group without a share of real time refuses them, even
// to the superuser.
std::string cure(int policy) {
    if (class_of(0) == SCHED_IDLE) {
        return "switchcost was started under SCHED_IDLE, which only CAP_SYS_NICE may leave; start it under the usual "
               "class (chrt --other 0, CPUSchedulingPolicy=other)";
    }
    if (!is_real_time(policy)) return "a filter of the session (seccomp) may refuse the call";
    if (procfs::cgroup_limit("cpu", "cpu.rt_runtime_us") == 0u) {
        return "cpu.rt_runtime_us of this control group is 0: give it a share, or run outside of it";
    }
    return "it needs CAP_SYS_NICE, or RLIMIT_RTPRIO of at least 1 (ulimit -r 1)";
}

}  // namespace

void schedule_self(const Plan& plan) {
    const int policy = policy_of(plan);
    if (class_of(0) == policy) return;
    // The lowest real-time priority: above every ordinary task, below the kernel's own.
    sched_param priority{};
    priority.sched_priority = is_real_time(policy) ? 1 : 0;
    if (syscall(SYS_sched_setscheduler, 0, policy, &priority) == 0) return;
    const int error = errno;
    const std::string what = std::string("sched=") + plan.text("sched") + " was refused (" + std::strerror(error) + ")";
    throw unsupported(error == EPERM ? "no_permission" : "unsupported_here", what + "; " + cure(policy), error);
}

std::int64_t tasks_scheduled(std::span<const TaskId> tasks, const Plan& plan) {
    const int policy = policy_of(plan);
    return std::count_if(tasks.begin(), tasks.end(),
                         [policy](const TaskId& task) { return class_of(task.thread) == policy; });
}

}  // namespace probe
