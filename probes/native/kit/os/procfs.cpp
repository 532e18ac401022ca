#include "kit/os/procfs.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

namespace probe::procfs {
namespace {

// Reads without allocating: called between the batches and the first message after them.
bool read_small_file(const char* path, char* buffer, std::size_t size) {
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd == -1) return false;
    std::size_t length = 0;
    while (length + 1 < size) {
        const ssize_t got = read(fd, buffer + length, size - 1 - length);
        if (got <= 0) break;
        length += static_cast<std::size_t>(got);
    }
    close(fd);
    buffer[length] = '\0';
    return length != 0;
}

bool field(const char* text, const char* name, std::uint64_t& value) {
    const char* found = std::strstr(text, name);
    if (found == nullptr) return false;
    value = std::strtoull(found + std::strlen(name), nullptr, 10);
    return true;
}

std::string cgroup_path(const std::string& controller) {
    std::ifstream file("/proc/self/cgroup");
    for (std::string line; std::getline(file, line);) {
        const std::size_t first = line.find(':');
        const std::size_t second = line.find(':', first + 1);
        if (second == std::string::npos) continue;
        if (line.substr(first + 1, second - first - 1) == controller) return line.substr(second + 1);
    }
    return "/";
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

std::uint64_t available_memory() {
    char text[4096];
    std::uint64_t kibibytes = 0;
    if (!read_small_file("/proc/meminfo", text, sizeof text) || !field(text, "\nMemAvailable:", kibibytes))
        return ~std::uint64_t{0};
    return kibibytes * 1024;
}

std::optional<std::uint64_t> cgroup_limit(const char* controller, const char* file, const char* unified_file) {
    const std::string first = std::string("/sys/fs/cgroup/") + controller + cgroup_path(controller) + "/" + file;
    if (const auto value = read_number(first)) return value;
    const std::string name = unified_file != nullptr ? unified_file : file;
    if (const auto value = read_number("/sys/fs/cgroup" + cgroup_path("") + "/" + name)) return value;
    return read_number("/sys/fs/cgroup/" + name);  // inside a container the path of /proc/self/cgroup is the host's
}

}  // namespace probe::procfs
