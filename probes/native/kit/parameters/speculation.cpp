#include "kit/parameters/speculation.h"

#include <sys/prctl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>

#include "kit/os/procfs.h"
#include "kit/plan/failure.h"

namespace probe {
namespace {

bool asked(const Plan& plan) { return plan.text("speculation") == "guarded"; }

// Documentation/userspace-api/spec_ctrl.rst; the words are those of fs/proc/array.c.
bool is_guarded(const TaskId& task) {
    constexpr const char* name = "SpeculationIndirectBranch:";
    std::ifstream file("/proc/" + std::to_string(task.process) + "/task/" + std::to_string(task.thread) + "/status");
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with(name)) return line.find("disabled") != std::string::npos;
    }
    return false;
}

}  // namespace

// A kernel that guards every task as it is, or none at all, leaves a process no choice: it refuses with EPERM.
void guard_self(const Plan& plan) {
    if (!asked(plan) || prctl(PR_SET_SPECULATION_CTRL, PR_SPEC_INDIRECT_BRANCH, PR_SPEC_DISABLE, 0, 0) == 0) return;
    const int error = errno;
    const std::string spectre = procfs::first_line("/sys/devices/system/cpu/vulnerabilities/spectre_v2");
    throw unsupported(
        error == EPERM ? "no_permission" : "unsupported_here",
        std::string("speculation=guarded was refused (") + std::strerror(error) +
            "): the kernel leaves a process no choice (spectre_v2: " + (spectre.empty() ? "unknown" : spectre) +
            "); boot with spectre_v2_user=prctl, or leave speculation out",
        error);
}

std::int64_t tasks_guarded(std::span<const TaskId> tasks, const Plan& plan) {
    return asked(plan) ? std::count_if(tasks.begin(), tasks.end(), is_guarded) : 0;
}

}  // namespace probe
