// Readers of /proc and of the control group's files: evidence and limits.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kit/mechanism.h"

namespace probe::procfs {

struct KernelSwitches {
    std::uint64_t voluntary = 0;
    std::uint64_t involuntary = 0;
    std::uint32_t tasks = 0;
};

// Sum over the tasks, read from outside while they are blocked. nullopt: some status file could not be read.
std::optional<KernelSwitches> kernel_switches(std::span<const TaskId> tasks);

// The number behind `name` (line break and colon included) in a file of named lines.
std::optional<std::uint64_t> read_field(const char* path, const char* name);

std::optional<std::uint64_t> read_number(const std::string& path);
std::uint64_t available_memory();  // bytes; all ones when unknown

// A limit of this process's control group, version 1 (controller, file) or version 2 (file of the unified hierarchy).
std::optional<std::uint64_t> cgroup_limit(const char* controller, const char* file, const char* unified_file = nullptr);

}  // namespace probe::procfs
