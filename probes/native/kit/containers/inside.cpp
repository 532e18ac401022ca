#include "kit/containers/inside.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>

#include "kit/os/limits.h"
#include "kit/os/procfs.h"
#include "kit/os/seccomp.h"

namespace probe {
namespace {

// The control group's namespace is rooted where its maker is, hence made after joining.
constexpr std::uint64_t clone_flags =
    CLONE_NEWIPC | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWPID | CLONE_NEWUSER | CLONE_NEWUTS;

// Root inside is the caller outside: the one map that needs no privilege.
bool write_maps(const ContainerKind& kind) {
    char map[32];
    procfs::write_file("/proc/self/setgroups", "deny");  // missing before Linux 3.19
    std::snprintf(map, sizeof map, "0 %u 1", kind.group);
    if (!procfs::write_file("/proc/self/gid_map", map)) return false;
    std::snprintf(map, sizeof map, "0 %u 1", kind.user);
    return procfs::write_file("/proc/self/uid_map", map);
}

// Version 1: the thread itself, through the descriptor and by the rights of who opened it. Moving oneself alone spares
// the kernel the lock over all forks and exits of the machine, whose taking waits for an RCU grace period.
bool join_cgroup(const ContainerKind& kind, int join) {
    if (join == -1) return true;
    const bool joined = kind.cgroup_version == 2 || write(join, "0", 1) == 1;
    const int error = errno;
    close(join);
    errno = error;
    return joined;
}

// The parent lies outside the pid namespace, where getppid() says 0 whether it lives or not.
void die_with_launcher(const ContainerKind& kind) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pollfd ended = {kind.launcher, POLLIN, 0};
    if (kind.launcher != -1 && poll(&ended, 1, 0) > 0) _exit(0);
}

std::string userns_cure() {
    if (procfs::read_number("/proc/sys/kernel/unprivileged_userns_clone") == 0u) {
        return "the sysctl kernel.unprivileged_userns_clone is 0: set it to 1, or run as root";
    }
    if (procfs::read_number("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == 1u) {
        return "AppArmor restricts user namespaces (sysctl kernel.apparmor_restrict_unprivileged_userns = 1): set it "
               "to 0, give the probe "
               "a profile with `userns`, or run as root";
    }
    return "a seccomp filter, a security module or a chroot forbids it: run outside of the surrounding container or "
           "with its filter off "
           "(--security-opt seccomp=unconfined), or use namespaces=none";
}

std::string exhausted_namespaces() {
    std::string name = "user.max_user_namespaces";
    std::uint64_t lowest = ~std::uint64_t{0};
    for (const char* kind : namespace_kinds) {
        const auto limit = procfs::read_number(std::string("/proc/sys/user/max_") + kind + "_namespaces");
        if (!limit || *limit >= lowest) continue;
        lowest = *limit;
        name = std::string("user.max_") + kind + "_namespaces";
    }
    const std::string value = lowest == ~std::uint64_t{0} ? "" : " = " + std::to_string(lowest);
    return "the likeliest limit in the way is the sysctl " + name + value +
           "; raise it with sysctl -w, or use fewer contexts";
}

const char* text_of(Step step) {
    switch (step) {
        case Step::none: break;
        case Step::join_cgroup: return "join its control group";
        case Step::map_user: return "map its user";
        case Step::make_cgroup_namespace: return "make its control group namespace";
        case Step::install_seccomp: return "install its seccomp filter";
        case Step::read_identity: return "read the ids of its namespaces in /proc/self/ns";
    }
    return "begin";
}

}  // namespace

ContainerKind::ContainerKind(const Plan& plan, const ContainerCgroups& cgroups)
    : namespaces(plan.text("namespaces") == "all"),
      seccomp(plan.text("seccomp") == "on"),
      cgroup_version(cgroups.in_use() ? cgroups.version() : 0),
      user(geteuid()),
      group(getegid()),
      launcher(static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0))) {}

pid_t clone_container(const ContainerKind& kind, int join) {
    clone_args arguments = {};
    arguments.flags = kind.namespaces ? clone_flags : 0;
    arguments.exit_signal = SIGCHLD;
    if (kind.cgroup_version == 2 && join != -1) {
        arguments.flags |= CLONE_INTO_CGROUP;
        arguments.cgroup = static_cast<std::uint64_t>(join);
    }
    return static_cast<pid_t>(syscall(SYS_clone3, &arguments, sizeof arguments));
}

StepFailure set_up_inside(const ContainerKind& kind, int join) {
    die_with_launcher(kind);
    if (!join_cgroup(kind, join)) return {Step::join_cgroup, errno};
    if (kind.namespaces) {
        if (!write_maps(kind)) return {Step::map_user, errno};
        if (unshare(CLONE_NEWCGROUP) != 0) return {Step::make_cgroup_namespace, errno};
    }
    if (kind.seccomp && !install_seccomp_filter(calls_no_container_makes)) return {Step::install_seccomp, errno};
    return {};
}

StepFailure set_up_entered(const ContainerKind& kind, int join) {
    die_with_launcher(kind);
    close(join);
    if (kind.seccomp && !install_seccomp_filter(calls_no_container_makes)) return {Step::install_seccomp, errno};
    return {};
}

bool read_namespaces(std::array<std::uint64_t, namespace_kinds.size()>& ids) {
    for (std::size_t i = 0; i < namespace_kinds.size(); ++i) {
        char path[64];
        struct stat status;
        std::snprintf(path, sizeof path, "/proc/self/ns/%s", namespace_kinds[i]);
        if (stat(path, &status) != 0) return false;
        ids[i] = status.st_ino;
    }
    return true;
}

std::string namespaces_forbidden() {
    for (const char* kind : namespace_kinds) {
        if (procfs::read_number(std::string("/proc/sys/user/max_") + kind + "_namespaces") == 0u)
            return exhausted_namespaces();
    }
    const bool restricted = procfs::read_number("/proc/sys/kernel/unprivileged_userns_clone") == 0u ||
                            procfs::read_number("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == 1u;
    return geteuid() != 0 && restricted ? userns_cure() : "";
}

Failure clone_failure(int error, std::uint32_t made, std::uint32_t wanted) {
    const std::string text = "the system refused container " + std::to_string(made + 1) + " of " +
                             std::to_string(wanted) + " (" + std::strerror(error) + "): ";
    switch (error) {
        case EPERM:
        case EACCES: return unsupported("no_permission", text + userns_cure(), error);
        case ENOSPC:
        case EUSERS: return unsupported("limit_reached", text + exhausted_namespaces(), error);
        case ENOSYS:
            return unsupported(
                "missing_syscall",
                text + "clone3 is missing; Linux 5.7 or newer is needed, and no seccomp filter against it", error);
        case EINVAL:
            return unsupported("unsupported_here", text + "the kernel lacks a kind of namespace; try namespaces=none",
                               error);
        case EBUSY:
            return unsupported(
                "unsupported_here",
                text + "its control group hands controllers on and may hold no process; use cgroup_depth=0", error);
        default: return task_limit_failure("container", made, wanted, error);
    }
}

Failure step_failure(StepFailure failure) {
    if (is_descriptor_limit(failure.error)) return descriptor_limit_failure(0, 1, failure.error);
    const std::string text =
        std::string("a container could not ") + text_of(failure.step) + " (" + std::strerror(failure.error) + "); ";
    if (failure.step == Step::install_seccomp) {
        return unsupported("unsupported_here", text + "the kernel needs CONFIG_SECCOMP_FILTER, or use seccomp=off",
                           failure.error);
    }
    if (failure.step == Step::join_cgroup) {
        return unsupported("unsupported_here",
                           text + "a real-time scheduling class or a controller forbids it; use cgroup_depth=0",
                           failure.error);
    }
    if (failure.step == Step::read_identity)
        return unsupported("unsupported_here", text + "mount /proc", failure.error);
    return unsupported("no_permission", text + userns_cure(), failure.error);
}

}  // namespace probe
