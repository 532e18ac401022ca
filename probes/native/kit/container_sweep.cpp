#include "kit/container_sweep.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

#include "kit/container_cgroups.h"
#include "kit/limits.h"

namespace probe {
namespace {

const std::string group_name = "switchcost-";

std::vector<std::string> directories_in(const std::string& path) {
    std::vector<std::string> result;
    DIR* directory = opendir(path.c_str());
    if (directory == nullptr) return result;
    while (const dirent* entry = readdir(directory)) {
        if (entry->d_type == DT_DIR && entry->d_name[0] != '.') result.emplace_back(entry->d_name);
    }
    closedir(directory);
    return result;
}

void remove_tree(const std::string& path, Patience patience) {
    for (const std::string& name : directories_in(path)) remove_tree(path + "/" + name, patience);
    remove_empty_group(path.c_str(), patience);
}

// "PID (name) state ..." with the start time as field 22; the name may hold anything, so fields are counted after the last bracket.
std::string identity(const std::string& process) {
    std::ifstream file("/proc/" + process + "/stat");
    std::string text;
    std::getline(file, text);
    const std::size_t bracket = text.rfind(')');
    if (bracket == std::string::npos) return "";
    std::size_t at = bracket + 2;
    for (int field = 3; field < 22 && at != std::string::npos; ++field) at = text.find(' ', at) + 1;
    return text.substr(0, text.find(' ')) + "-" + text.substr(at, text.find(' ', at) - at);
}

void keep_only(int fd) {
    dup2(fd, 0);
    if (syscall(SYS_close_range, 1u, ~0u, 0u) == 0) return;
    for (int other = 1; other < 65536; ++other) close(other);
}

void clean_up(const Leftovers& leftovers) {
    const std::vector<int> fifos = leftovers.folder.empty() ? std::vector<int>() : open_fifos(leftovers.folder);
    for (const std::string& parent : leftovers.parents) remove_groups(parent, leftovers.prefix);
    for (const int fifo : fifos) close(fifo);
    std::error_code ignored;
    if (!leftovers.folder.empty()) std::filesystem::remove_all(leftovers.folder, ignored);
}

[[noreturn]] void guard(int read_end, const Leftovers& leftovers) {
    setpgid(0, 0);
    for (const int signal_number : {SIGTERM, SIGINT, SIGHUP, SIGQUIT}) std::signal(signal_number, SIG_IGN);
    keep_only(read_end);
    char byte;
    while (read(0, &byte, 1) == -1 && errno == EINTR) {
    }
    clean_up(leftovers);
    _exit(0);
}

}  // namespace

std::vector<int> open_fifos(const std::string& folder) {
    std::vector<int> result;
    std::error_code error;
    for (std::filesystem::recursive_directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
        if (!entry->is_fifo(error)) continue;
        const int fifo = open(entry->path().c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        if (fifo != -1) result.push_back(fifo);
    }
    return result;
}

std::string own_group_prefix() { return group_name + identity("self"); }

bool remove_empty_group(const char* path, Patience patience) {
    constexpr timespec pause = {0, 200'000};
    const int attempts = patience == Patience::one_second ? 5000 : 1;
    for (int attempt = 0; attempt < attempts; ++attempt) {
        if (rmdir(path) == 0) return true;
        if (errno != EBUSY) return false;
        nanosleep(&pause, nullptr);
    }
    return false;
}

void remove_groups(const std::string& parent, const std::string& prefix) {
    for (const std::string& name : directories_in(parent)) {
        if (name.rfind(prefix + "-", 0) == 0) remove_tree(parent + "/" + name, Patience::one_second);
    }
}

bool of_dead_probe(const std::string& name) {
    if (name.rfind(group_name, 0) != 0) return false;
    const std::size_t dash = name.find('-', group_name.size());
    if (dash == std::string::npos) return false;
    const std::string process = name.substr(group_name.size(), dash - group_name.size());
    if (process.find_first_not_of("0123456789") != std::string::npos) return false;
    const std::string known = identity(process);
    return known.empty() || name.rfind(group_name + known + "-", 0) != 0;
}

void sweep_dead_probes(const std::string& parent) {
    for (const std::string& name : directories_in(parent)) {
        if (of_dead_probe(name)) remove_tree(parent + "/" + name, Patience::none);
    }
}

void CgroupGuardian::start(Leftovers leftovers) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw descriptor_limit_failure(0, 1, errno);
    leftovers_ = std::move(leftovers);
    const pid_t child = fork();
    if (child == -1) {
        const int error = errno;
        close(ends[0]);
        close(ends[1]);
        throw task_limit_failure("process", 0, 1, error);
    }
    if (child == 0) guard(ends[0], leftovers_);
    setpgid(child, child);  // here and there: whoever comes first
    close(ends[0]);
    write_end_ = ends[1];
    id_ = child;
}

void CgroupGuardian::finish() {
    if (id_ == 0) return;
    close(write_end_);
    while (waitpid(id_, nullptr, 0) == -1 && errno == EINTR) {
    }
    id_ = 0;
    clean_up(leftovers_);  // nothing to do unless somebody killed the guardian
}

void CgroupGuardian::forget() { id_ = 0; }

}  // namespace probe
