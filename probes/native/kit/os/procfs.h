// Readers of /proc and of the control group's files: evidence and limits.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kit/os/os.h"

namespace probe::procfs {

using os::KernelSwitches;

// Sum over the tasks, read from outside while they are blocked. nullopt: some status file could not be read.
std::optional<KernelSwitches> kernel_switches(std::span<const TaskId> tasks);

// The number behind `name` (line break and colon included) in a file of named lines.
std::optional<std::uint64_t> read_field(const char* path, const char* name);

std::size_t lines_of(const std::string& path);
std::string first_line(const std::string& path);  // empty: cannot be read

// Writes a file whose whole content is one line; system calls only. False: errno says why.
bool write_file(const char* path, std::string_view text);

// The groups that a process ("self", or an id) is in.
struct CgroupOf {
    std::string controllers;  // separated by commas; empty: the unified hierarchy
    std::string path;
};
std::vector<CgroupOf> cgroups_of(const std::string& process);

std::optional<std::uint64_t> read_number(const std::string& path);
std::uint64_t available_memory();  // bytes; all ones when unknown

// The least of the limits that this process's control group and those above it have: version 1 (controller, file) or
// version 2 (file of the unified hierarchy).
std::optional<std::uint64_t> cgroup_limit(const char* controller, const char* file, const char* unified_file = nullptr);

}  // namespace probe::procfs
