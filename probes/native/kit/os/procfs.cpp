#include "kit/os/procfs.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include "kit/os/descriptor.h"

namespace probe::procfs {
namespace {

// Reads without allocating: called between the batches and the first message after them.
bool read_small_file(const char* path, char* buffer, std::size_t size) {
    const Descriptor file(open(path, O_RDONLY | O_CLOEXEC));
    std::size_t length = 0;
    while (file.is_open() && length + 1 < size) {
        const ssize_t got = read(file.get(), buffer + length, size - 1 - length);
        if (got <= 0) break;
        length += static_cast<std::size_t>(got);
    }
    buffer[length] = '\0';
    return length != 0;
}

bool field(const char* text, const char* name, std::uint64_t& value) {
    const char* found = std::strstr(text, name);
    if (found == nullptr) return false;
    value = std::strtoull(found + std::strlen(name), nullptr, 10);
    return true;
}

// Whether a line of /proc/PID/cgroup is of this controller: version 1 may mount several as one ("cpu,cpuacct").
bool is_of(const CgroupOf& group, const std::string& controller) {
    return ("," + group.controllers + ",").find("," + controller + ",") != std::string::npos;
}

}  // namespace

std::optional<KernelSwitches> kernel_switches(std::span<const TaskId> tasks) {
    KernelSwitches sum;
    char path[64];
    char text[4096];
    for (const TaskId& task : tasks) {
        std::snprintf(path, sizeof path, "/proc/%d/task/%d/status", task.process, task.thread);
        std::uint64_t voluntary = 0;
        std::uint64_t involuntary = 0;
        if (!read_small_file(path, text, sizeof text)) return std::nullopt;
        // The line break keeps "nonvoluntary_..." from being found as "voluntary_...".
        if (!field(text, "\nvoluntary_ctxt_switches:", voluntary)) return std::nullopt;
        if (!field(text, "\nnonvoluntary_ctxt_switches:", involuntary)) return std::nullopt;
        sum.voluntary += voluntary;
        sum.involuntary += involuntary;
        ++sum.tasks;
    }
    return sum;
}

std::optional<std::uint64_t> read_number(const std::string& path) {
    char text[64];
    if (!read_small_file(path.c_str(), text, sizeof text)) return std::nullopt;
    if (text[0] < '0' || text[0] > '9') return std::nullopt;  // "max"
    return std::strtoull(text, nullptr, 10);
}

std::optional<std::uint64_t> read_field(const char* path, const char* name) {
    char text[8192];
    std::uint64_t value = 0;
    if (!read_small_file(path, text, sizeof text) || !field(text, name, value)) return std::nullopt;
    return value;
}

std::string first_line(const std::string& path) {
    std::string line;
    std::ifstream file(path);
    std::getline(file, line);
    return line;
}

std::size_t lines_of(const std::string& path) {
    std::ifstream file(path);
    return static_cast<std::size_t>(std::count(std::istreambuf_iterator<char>(file), {}, '\n'));
}

bool write_file(const char* path, std::string_view text) {
    const Descriptor file(open(path, O_WRONLY | O_CLOEXEC));
    return file.is_open() && write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

std::vector<CgroupOf> cgroups_of(const std::string& process) {
    std::vector<CgroupOf> result;
    std::ifstream file("/proc/" + process + "/cgroup");
    std::string number, controllers, path;
    while (std::getline(file, number, ':') && std::getline(file, controllers, ':') && std::getline(file, path))
        result.push_back({controllers, path});
    return result;
}

std::uint64_t available_memory() {
    const auto kibibytes = read_field("/proc/meminfo", "\nMemAvailable:");
    return kibibytes ? *kibibytes * 1024 : ~std::uint64_t{0};
}

std::optional<std::uint64_t> cgroup_limit(const char* controller, const char* file, const char* unified_file) {
    std::optional<std::uint64_t> least;
    const auto look = [&least](const std::string& root, std::string path, const std::string& name) {
        if (path == "/") path.clear();
        for (;;) {
            const auto value = read_number(root + path + "/" + name);
            if (value && (!least || *value < *least)) least = value;
            const std::size_t last = path.find_last_of('/');
            if (last == std::string::npos) return;  // That was the root, where a container has its own group.
            path.erase(last);
        }
    };
    for (const CgroupOf& group : cgroups_of("self")) {
        if (group.controllers.empty())
            look("/sys/fs/cgroup", group.path, unified_file != nullptr ? unified_file : file);
        if (is_of(group, controller)) look(std::string("/sys/fs/cgroup/") + controller, group.path, file);
    }
    return least;
}

}  // namespace probe::procfs
