#include "kit/containers/cgroups.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "kit/os/limits.h"
#include "kit/os/procfs.h"
#include "kit/plan/failure.h"

namespace probe {
namespace {

constexpr std::uint64_t period_us = 100'000;
constexpr mode_t group_mode = 0755;

// The path of a process in the hierarchy of version 1 that has the controller cpu, or in the unified one.
std::string group_path(const std::string& process, int version) {
    for (const procfs::CgroupOf& group : procfs::cgroups_of(process)) {
        if (version == 1 ? has_item(group.controllers, "cpu", ',') : group.controllers.empty()) return group.path;
    }
    return "";
}

bool find_mount(int version, CgroupMount& found) {
    for (const CgroupMount& mount : cgroup_mounts()) {
        const bool fits = version == 1 ? has_item(mount.controllers, "cpu", ',') : mount.controllers.empty();
        if (!fits) continue;
        found = mount;
        return true;
    }
    return false;
}

// Own path below the mount. In a container the mount may show a subtree only, and the path may lie outside of it.
std::string path_below(const std::string& path, const std::string& root) {
    if (path.find("..") != std::string::npos) return "";
    const std::string inside = root == "/" ? path : path.starts_with(root) ? path.substr(root.size()) : "";
    return inside == "/" ? "" : inside;
}

bool write_text(const std::string& path, const std::string& text) { return procfs::write_file(path.c_str(), text); }

}  // namespace

bool has_item(const std::string& list, const std::string& item, char separator) {
    const std::string framed = separator + list + separator;
    return framed.find(separator + item + separator) != std::string::npos;
}

// A line of mountinfo: id parent device ROOT DIRECTORY options... - TYPE source SUPER_OPTIONS
std::vector<CgroupMount> cgroup_mounts() {
    std::vector<CgroupMount> result;
    std::ifstream file("/proc/self/mountinfo");
    for (std::string line; std::getline(file, line);) {
        const std::size_t dash = line.find(" - ");
        if (dash == std::string::npos) continue;
        std::istringstream left(line.substr(0, dash));
        std::istringstream right(line.substr(dash + 3));
        std::string id, parent, device, root, directory, type, source, options;
        left >> id >> parent >> device >> root >> directory;
        right >> type >> source >> options;
        if (type == "cgroup") result.push_back({directory, root, options});
        if (type == "cgroup2") result.push_back({directory, root, ""});
    }
    return result;
}

CgroupHierarchy find_cgroup_hierarchy() {
    CgroupHierarchy result;
    CgroupMount mount;
    if (find_mount(1, mount)) {
        result.version = 1;
    } else if (find_mount(2, mount)) {
        result.version = 2;
    } else {
        return result;
    }
    result.mount = mount.directory;
    std::string below = path_below(group_path("self", result.version), mount.root);
    for (;;) {
        result.candidates.push_back(mount.directory + below);
        if (below.empty()) return result;
        below.erase(below.rfind('/'));
    }
}

ContainerCgroups::ContainerCgroups(const Plan& plan)
    : hierarchy_(find_cgroup_hierarchy()),
      depth_(static_cast<std::uint32_t>(plan.number("cgroup_depth"))),
      quota_percent_(plan.text("cpu_quota") == "none" ? 0 : plan.number("cpu_quota")) {
    for (const std::string& candidate : hierarchy_.candidates) sweep_dead_groups(candidate, places_of(candidate));
    const bool insists = plan.text("cgroup") == "own" || quota_percent_ != 0;
    if (insists && depth_ == 0)
        throw refused("bad_value", "cgroup_depth=0 makes no control group; leave cgroup=own and cpu_quota out");
    if (depth_ == 0) return;
    errno = ENOENT;
    for (const std::string& candidate : hierarchy_.candidates) {
        if (try_parent(candidate)) break;
    }
    const int error = errno;
    // Version 2 without a usable cpu controller: a group of one's own still, but neither a quota nor a level for the
    // scheduler.
    if (parent_.empty() && quota_percent_ == 0 && hierarchy_.version == 2 &&
        access(hierarchy_.candidates[0].c_str(), W_OK) == 0) {
        parent_ = hierarchy_.candidates[0];
    }
    if (!parent_.empty()) {
        groups_.set_parent(parent_, places_of(parent_));
        if (const int refused_with = guardian_.start(groups_); refused_with != 0) throw refusal(refused_with);
        return;
    }
    if (insists) throw refusal(error);
    depth_ = 0;
}

// What a group is called in every hierarchy.
std::vector<std::string> ContainerCgroups::places_of(const std::string& candidate) const {
    std::vector<std::string> result;
    for (const CgroupMount& mount : cgroup_mounts())
        result.push_back(mount.directory + candidate.substr(hierarchy_.mount.size()));
    return result;
}

// Version 2 hands the cpu controller only to children of a group that passes it on; changing that is not the probe's
// business.
bool ContainerCgroups::try_parent(const std::string& candidate) {
    if (access(candidate.c_str(), W_OK) != 0) return false;
    // Who joins must be allowed to write here, where its old and its new group meet; root may have a read-only mount.
    const std::string processes = candidate + "/cgroup.procs";
    if (access(processes.c_str(), W_OK) != 0) return false;
    if (hierarchy_.version == 2 && !has_item(procfs::first_line(candidate + "/cgroup.subtree_control"), "cpu", ' ')) {
        errno = ENOENT;
        return false;
    }
    parent_ = candidate;
    return true;
}

bool ContainerCgroups::has_cpu_controller() const {
    if (!in_use()) return false;
    return hierarchy_.version == 1 || has_item(procfs::first_line(parent_ + "/cgroup.subtree_control"), "cpu", ' ');
}

std::string ContainerCgroups::name(std::uint32_t container) const {
    std::string result = groups_.name() + "-" + std::to_string(container);
    for (std::uint32_t level = 1; level < depth_; ++level) result += "/" + std::to_string(level);
    return result;
}

std::string ContainerCgroups::path_of(pid_t process) const {
    return group_path(std::to_string(process), hierarchy_.version);
}

// Both versions: a budget per period. A container has one process, which cannot use more than 100 %.
bool ContainerCgroups::write_quota(const std::string& group) const {
    if (quota_percent_ == 0) return true;
    const std::string budget = std::to_string(period_us * quota_percent_ / 100);
    if (hierarchy_.version == 2) return write_text(group + "/cpu.max", budget + " " + std::to_string(period_us));
    return write_text(group + "/cpu.cfs_period_us", std::to_string(period_us)) &&
           write_text(group + "/cpu.cfs_quota_us", budget);
}

int ContainerCgroups::make(std::uint32_t container) {
    if (!in_use()) return -1;
    prepare(container);
    int descriptor = -1;
    if (!make_prepared(descriptor)) throw refusal(errno);
    if (write_quota(innermost(container))) return descriptor;
    const int error = errno;
    close(descriptor);
    if (is_descriptor_limit(error)) throw descriptor_limit_failure(0, 1, error);
    throw unsupported("unsupported_here",
                      std::string("the quota could not be set (") + std::strerror(error) +
                          "); the kernel needs CONFIG_CFS_BANDWIDTH, or use cpu_quota=none",
                      error);
}

Failure ContainerCgroups::refusal(int error) const {
    if (is_descriptor_limit(error)) return descriptor_limit_failure(0, 1, error);
    if (hierarchy_.version == 0) {
        return unsupported("unsupported_here",
                           "no control group hierarchy is mounted; mount one at /sys/fs/cgroup, or leave cgroup=own "
                           "and cpu_quota out");
    }
    if (hierarchy_.version == 2 && error == ENOENT) {
        return unsupported("unsupported_here",
                           "no group between this process and the root of the unified hierarchy hands the cpu "
                           "controller to its children; "
                           "write +cpu into its cgroup.subtree_control, or leave cpu_quota out",
                           error);
    }
    const std::string where =
        hierarchy_.version == 1 ? "the cpu hierarchy (version 1)" : "the unified hierarchy (version 2)";
    return unsupported(
        error == EACCES || error == EPERM || error == EROFS ? "no_permission" : "unsupported_here",
        "no control group can be made in " + where + " (" + std::strerror(error) +
            "); run as root, or in a delegated group (systemd-run --user --scope -p Delegate=yes ...), or leave "
            "cgroup=own and cpu_quota out",
        error);
}

void ContainerCgroups::prepare(std::uint32_t container) {
    prepared_.clear();
    if (!in_use()) return;
    std::string path = parent_ + "/" + groups_.name() + "-" + std::to_string(container);
    prepared_.push_back(path);
    for (std::uint32_t level = 1; level < depth_; ++level) prepared_.push_back(path += "/" + std::to_string(level));
    prepared_join_ = hierarchy_.version == 1 ? path + "/tasks" : path;
}

bool ContainerCgroups::make_prepared(int& join_descriptor) const {
    if (!in_use()) return true;
    for (std::size_t level = 0; level < prepared_.size(); ++level) {
        if (mkdir(prepared_[level].c_str(), group_mode) != 0) return false;
        if (hierarchy_.version == 1 || level + 1 == prepared_.size()) continue;
        // Without the controller in the parent this fails, and the levels below are groups without weight.
        write_text(prepared_[level] + "/cgroup.subtree_control", "+cpu");
    }
    join_descriptor =
        open(prepared_join_.c_str(), (hierarchy_.version == 1 ? O_WRONLY : O_RDONLY | O_DIRECTORY) | O_CLOEXEC);
    return join_descriptor != -1;
}

bool ContainerCgroups::remove_prepared() const {
    for (std::size_t level = prepared_.size(); level-- > 0;) {
        if (!remove_empty_group(prepared_[level].c_str())) return false;
    }
    return true;
}

std::int64_t ContainerCgroups::throttled_periods(std::uint32_t container) const {
    std::ifstream file(innermost(container) + "/cpu.stat");
    std::string name;
    std::int64_t value = 0;
    while (file >> name >> value) {
        if (name == "nr_throttled") return value;
    }
    return -1;
}

}  // namespace probe
