// What Linux and macOS answer alike.
#include "kit/os/posix.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <csignal>

#include "kit/os/memory.h"
#include "kit/os/os.h"
#include "kit/tasks/processes.h"

namespace probe {

MemoryGain gain_of(std::span<const pid_t> processes, std::int64_t kernel_before) {
    MemoryGain sum{{}, true};
    sum.kernel = kernel_memory_of_machine() - kernel_before;
    for (const pid_t process : processes) {
        const Memory own = private_memory(process);
        sum.resident += own.resident;
        sum.mapped += own.mapped;
    }
    return sum;
}

namespace os {

void begin(int report_fd) {
    std::signal(SIGPIPE, SIG_IGN);
    set_partner_death_report(report_fd);
}

std::string runtime() {
    utsname system{};
    uname(&system);
    return c_library() + ", " + system.sysname + " " + system.release;
}

std::optional<std::string> caveat() { return std::nullopt; }

TaskId current_task() { return {getpid(), current_thread()}; }

PageFaults faults_of(int who) {
    rusage usage{};
    getrusage(static_cast<decltype(RUSAGE_SELF)>(who), &usage);
    return {static_cast<std::uint64_t>(usage.ru_minflt), static_cast<std::uint64_t>(usage.ru_majflt)};
}

// With those of children that were waited for, as the host counts them.
std::optional<PageFaults> faults_of_process() {
    const PageFaults own = faults_of(RUSAGE_SELF);
    const PageFaults children = faults_of(RUSAGE_CHILDREN);
    return PageFaults{own.minor + children.minor, own.major + children.major};
}

bool open_for_writing(int fd) {
    const int flags = fcntl(fd, F_GETFL);
    return flags != -1 && (flags & O_ACCMODE) != O_RDONLY;
}

long write_some(int fd, const char* data, std::size_t size) { return write(fd, data, size); }

void* map_stack(std::size_t bytes) {
    void* address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return address == MAP_FAILED ? nullptr : address;
}

void unmap_stack(void* address, std::size_t bytes) { munmap(address, bytes); }

}  // namespace os
}  // namespace probe
