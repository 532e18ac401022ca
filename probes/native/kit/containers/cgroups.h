// Control groups of containers: where they may be made, making them, and removing them on every path.
//
// A chain of `depth` groups per container stands below one parent group:
//   PARENT/switchcost-PID-RANDOM-CONTAINER/1/2/...
// They are removed by a guardian process that waits for the end of everybody in the probe, SIGKILL included, which
// takes it a few milliseconds. Should it be killed itself (a host that kills stragglers at once), the next start of a
// container mechanism sweeps what dead probes left below the groups that this process is in, in every hierarchy:
// runtimes make theirs in all of them. A dead probe is one whose lock nobody holds, on the group
// PARENT/switchcost-PID-RANDOM (sweep.h).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "kit/containers/sweep.h"
#include "kit/plan/failure.h"
#include "kit/plan/plan.h"
#include "kit/tasks/guardian.h"

namespace probe {

// Where a hierarchy is mounted. In a container the mount may show a subtree only, whose path is root.
struct CgroupMount {
    std::string directory;
    std::string root;
    std::string controllers;  // as options of the mount; empty: the unified hierarchy
};

std::vector<CgroupMount> cgroup_mounts();
bool has_item(const std::string& list, const std::string& item, char separator);

// The hierarchy that carries the cpu controller, else the unified one.
struct CgroupHierarchy {
    int version = 0;                      // 1, 2; 0: none is mounted
    std::string mount;                    // directory
    std::vector<std::string> candidates;  // directories of this process's group and of its ancestors, innermost first
};

CgroupHierarchy find_cgroup_hierarchy();

class ContainerCgroups {
public:
    // Sweeps, finds the parent and starts the guardian. Where no group can be made: none, or a Failure when the plan
    // insists.
    explicit ContainerCgroups(const Plan& plan);

    bool in_use() const { return depth_ != 0; }
    int version() const { return hierarchy_.version; }
    Guardian& guardian() { return guardian_; }
    int lifeline() const { return guardian_.lifeline(); }

    // Makes the chain of a container and returns a descriptor for joining its innermost group: the file `tasks` of
    // version 1, the directory of version 2 (CLONE_INTO_CGROUP). -1 when groups are not in use. Throws Failure.
    int make(std::uint32_t container);

    // For the experiment `create`: paths made beforehand, no allocation afterwards. False: errno says why.
    void prepare(std::uint32_t container);
    bool make_prepared(int& join_descriptor) const;
    bool remove_prepared() const;
    Failure refusal(int error) const;  // of making a group

    // Name of the container's innermost group, as /proc/PID/cgroup ends with it.
    std::string name(std::uint32_t container) const;
    // Path of a process in the hierarchy, as this process sees it; empty when it cannot be read.
    std::string path_of(pid_t process) const;
    // The group below which they are made, as seen from the hierarchy's mount.
    std::string parent_below_mount() const { return parent_.substr(hierarchy_.mount.size()); }
    bool has_cpu_controller() const;
    std::int64_t throttled_periods(std::uint32_t container) const;

private:
    std::vector<std::string> places_of(const std::string& candidate) const;
    bool try_parent(const std::string& candidate);
    bool write_quota(const std::string& group) const;
    std::string innermost(std::uint32_t container) const { return parent_ + "/" + name(container); }

    CgroupHierarchy hierarchy_;
    std::uint32_t depth_;
    std::uint64_t quota_percent_;
    std::string parent_;
    std::vector<std::string> prepared_;  // outermost first
    std::string prepared_join_;
    ProbeGroups groups_;
    Guardian guardian_;
};

}  // namespace probe
