#include "kit/limits.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "kit/procfs.h"
#include "kit/shared.h"

namespace probe {
namespace {

constexpr std::uint64_t unlimited = ~std::uint64_t{0};

struct Limit {
    std::string name;
    std::uint64_t value;
    std::string cure;
};

std::uint64_t soft_limit(__rlimit_resource resource) {
    rlimit limit{};
    if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return unlimited;
    return limit.rlim_cur;
}

void raise_soft_limit(__rlimit_resource resource) {
    rlimit limit{};
    if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(resource, &limit);  // failure leaves the old limit, which is then named if it is in the way
}

// The kernel says EAGAIN for all of them, so the lowest is the likeliest.
Limit lowest(const std::vector<Limit>& limits) {
    const Limit* result = &limits.front();
    for (const Limit& limit : limits) {
        if (limit.value < result->value) result = &limit;
    }
    return *result;
}

std::string sentence(const std::string& what, const Limit& limit) {
    return what + ": the limit in the way is " + limit.name + " = " + std::to_string(limit.value) + "; " + limit.cure;
}

}  // namespace

void raise_soft_limits() {
    raise_soft_limit(RLIMIT_NOFILE);
    raise_soft_limit(RLIMIT_NPROC);
}

Failure task_limit_failure(const char* what, std::uint32_t made, std::uint32_t wanted, int error) {
    std::vector<Limit> limits;
    // The kernel does not apply RLIMIT_NPROC to the superuser.
    if (geteuid() != 0) limits.push_back({"RLIMIT_NPROC", soft_limit(RLIMIT_NPROC), "raise it with ulimit -u"});
    limits.push_back({"pids.max of the control group", procfs::cgroup_limit("pids", "pids.max").value_or(unlimited),
                      "raise it in the control group or container"});
    limits.push_back({"kernel.threads-max", procfs::read_number("/proc/sys/kernel/threads-max").value_or(unlimited),
                      "raise it with sysctl -w kernel.threads-max"});
    limits.push_back({"kernel.pid_max", procfs::read_number("/proc/sys/kernel/pid_max").value_or(unlimited),
                      "raise it with sysctl -w kernel.pid_max"});
    limits.push_back({"vm.max_map_count", procfs::read_number("/proc/sys/vm/max_map_count").value_or(unlimited),
                      "raise it with sysctl -w vm.max_map_count"});
    const std::string text = "the system refused " + std::string(what) + " " + std::to_string(made + 1) + " of " +
                             std::to_string(wanted) + " (" + std::strerror(error) + ")";
    return unsupported("limit_reached", sentence(text, lowest(limits)), error);
}

Failure descriptor_limit_failure(std::uint32_t made, std::uint32_t wanted, int error) {
    const std::string text = "the system refused descriptors for context " + std::to_string(made + 1) + " of " +
                             std::to_string(wanted) + " (" + std::strerror(error) + ")";
    const Limit own{"RLIMIT_NOFILE", soft_limit(RLIMIT_NOFILE), "raise the hard limit with ulimit -Hn"};
    const Limit system{"fs.file-max", procfs::read_number("/proc/sys/fs/file-max").value_or(unlimited),
                       "raise it with sysctl -w fs.file-max"};
    const Limit pipes{"fs.pipe-user-pages-hard", procfs::read_number("/proc/sys/fs/pipe-user-pages-hard").value_or(unlimited),
                      "raise it with sysctl -w fs.pipe-user-pages-hard"};
    // ENFILE has two causes; a pages limit of 0 means none.
    if (error != ENFILE) return unsupported("limit_reached", sentence(text, own), error);
    return unsupported("limit_reached", sentence(text, pipes.value != 0 ? lowest({system, pipes}) : system), error);
}

Failure memory_limit_failure(std::size_t bytes, int error) {
    const Limit space{"RLIMIT_AS", soft_limit(RLIMIT_AS), "raise it with ulimit -v"};
    const std::string text = "the system refused a mapping of " + std::to_string(bytes) + " bytes (" + std::strerror(error) + ")";
    if (space.value != unlimited) return unsupported("limit_reached", sentence(text, space), error);
    return unsupported("limit_reached", text + "; use fewer contexts or smaller stacks, or allow overcommit (vm.overcommit_memory)", error);
}

void require_memory(std::uint64_t bytes, const char* cure) {
    const std::uint64_t available = procfs::available_memory();
    const std::uint64_t group = procfs::cgroup_limit("memory", "memory.limit_in_bytes", "memory.max").value_or(unlimited);
    const Limit limit = lowest({{"free memory in bytes", available, cure},
                                {"memory limit of the control group in bytes", group, std::string("raise it, or ") + cure}});
    if (bytes <= limit.value / 5 * 4) return;
    throw unsupported("limit_reached", sentence("about " + std::to_string(bytes) + " bytes of memory would be touched", limit), ENOMEM);
}

void* map_zeroed(std::size_t bytes, bool shared) {
    const int kind = shared ? MAP_SHARED : MAP_PRIVATE;
    void* address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (address == MAP_FAILED) throw memory_limit_failure(bytes, errno);
    // Small pages always: a transparent huge page would make the footprint and the TLB behaviour a matter of luck.
    madvise(address, bytes, MADV_NOHUGEPAGE);
    return address;
}

void unmap(void* address, std::size_t bytes) { munmap(address, bytes); }

}  // namespace probe
