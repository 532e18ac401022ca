// Linux.
#include "kit/os/os.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#if defined(__GLIBC__)
#include <gnu/libc-version.h>
#include <malloc.h>
#endif

#include <algorithm>
#include <array>
#include <cerrno>

#include "kit/os/limits.h"
#include "kit/os/memory.h"
#include "kit/os/posix.h"
#include "kit/os/procfs.h"
#include "kit/plan/failure.h"
#include "kit/stacks/stacks.h"

namespace probe {
namespace {

// Why nothing came of reading a file of /proc: the limit of descriptors, if the error says so, else what is given.
Failure unread(const std::string& reason) {
    return is_descriptor_limit(errno) ? descriptor_limit_failure(0, 1, errno) : unsupported("unsupported_here", reason);
}

std::int64_t kibibytes(const std::string& path, const char* field) {
    errno = 0;
    const auto value = procfs::read_field(path.c_str(), field);
    if (!value) throw unread(path + " has no line " + (field + 1) + "; memory cannot be measured on this kernel");
    return static_cast<std::int64_t>(*value) * 1024;
}

std::int64_t address_space(const std::string& folder) {
    errno = 0;
    const auto pages = procfs::read_number(folder + "/statm");
    if (!pages) throw unread(folder + "/statm cannot be read; mount /proc");
    return static_cast<std::int64_t>(*pages) * sysconf(_SC_PAGESIZE);
}

std::uint64_t number_in(const char* path) { return procfs::read_number(path).value_or(unlimited); }

// As many CPUs as Linux can have; the C library's cpu_set_t ends at 1024.
struct CpuSet {
    std::array<cpu_set_t, 8> sets{};
    cpu_set_t* get() { return sets.data(); }
};

CpuSet set_of(int cpu) {
    CpuSet set;
    if (cpu >= static_cast<int>(sizeof set * 8)) throw os::placement_failure(cpu, EINVAL);
    CPU_SET_S(static_cast<std::size_t>(cpu), sizeof set, set.get());
    return set;
}

}  // namespace

void pin_self(int cpu) {
    if (cpu < 0) return;
    CpuSet wanted = set_of(cpu);
    if (sched_setaffinity(0, sizeof wanted, wanted.get()) != 0) throw os::placement_failure(cpu, errno);
    if (sched_getcpu() != cpu) throw os::placement_failure(cpu, EINVAL);
}

namespace os {

std::string c_library() {
#if defined(__GLIBC__)
    std::string name = std::string("glibc ") + gnu_get_libc_version();
#else
    std::string name = "musl";
#endif
    // The kernel tells a program where it has loaded its dynamic linker: nowhere, if it has none.
    return name + (getauxval(AT_BASE) == 0 ? ", static" : ", dynamic");
}

int current_thread() { return static_cast<int>(syscall(SYS_gettid)); }
int current_cpu() { return sched_getcpu(); }
std::optional<PageFaults> faults_of_thread() { return faults_of(RUSAGE_THREAD); }

std::optional<KernelSwitches> kernel_switches(std::span<const TaskId> tasks) { return procfs::kernel_switches(tasks); }
const char* kernel_switches_source() { return "proc_task_status"; }
const char* kernel_switches_unknown() { return "/proc/PID/task/TID/status could not be read"; }

std::optional<std::uint64_t> cpu_time_ns(std::span<const TaskId> tasks) {
    // Linux makes the clock's number from the id (include/linux/posix-timers.h). Clocks, unlike schedstat, count up to
    // this moment. Another process's threads have none of their own; the clock of the whole process is asked for its
    // first one.
    constexpr int whole_process = 2;
    constexpr int one_thread = 6;
    std::uint64_t sum = 0;
    const int own = getpid();
    for (const TaskId& task : tasks) {
        if (task.process != own && task.process != task.thread) continue;
        const clockid_t clock =
            task.process == own ? (~task.thread << 3) | one_thread : (~task.process << 3) | whole_process;
        timespec time{};
        if (clock_gettime(clock, &time) != 0) return std::nullopt;
        sum += static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
    }
    return sum;
}

void trim_heap() {
#if defined(__GLIBC__)
    malloc_trim(0);
#endif
}

const char* kernel_memory_meaning() { return "kernel_bytes is the change of this process's page tables (VmPTE)"; }

std::size_t usable_cpus() {
    CpuSet allowed;
    sched_getaffinity(0, sizeof allowed, allowed.get());
    return static_cast<std::size_t>(CPU_COUNT_S(sizeof allowed, allowed.get()));
}

int create_thread(pthread_t& thread, pthread_attr_t& attributes, void* (*body)(void*), void* argument, int cpu) {
    if (cpu < 0) return pthread_create(&thread, &attributes, body, argument);
    CpuSet set = set_of(cpu);
#if defined(__GLIBC__)
    pthread_attr_setaffinity_np(&attributes, sizeof set, set.get());
    return pthread_create(&thread, &attributes, body, argument);
#else
    // Attributes of musl have no CPU; a thread inherits that of its creator.
    CpuSet own;
    if (sched_getaffinity(0, sizeof own, own.get()) != 0 || sched_setaffinity(0, sizeof set, set.get()) != 0)
        return errno;
    const int error = pthread_create(&thread, &attributes, body, argument);
    sched_setaffinity(0, sizeof own, own.get());
    return error;
#endif
}

Failure placement_failure(int cpu, int error) {
    const std::string text = "a task could not be placed on CPU " + std::to_string(cpu);
    if (error == EPERM)
        return unsupported("no_permission", text + ": not permitted; run with the right to set CPU affinity", error);
    return unsupported("too_few_cpus",
                       text + ": it does not exist or is outside this process's CPU set; choose another", error);
}

void end_with_parent() { prctl(PR_SET_PDEATHSIG, SIGKILL); }

std::vector<Limit> task_limits() {
    constexpr std::uint64_t reserved = 300;  // RESERVED_PIDS of kernel/pid.c: ids begin anew above them.
    const std::uint64_t ids = number_in("/proc/sys/kernel/pid_max");
    std::vector<Limit> limits = {
        {"pids.max of the control group", procfs::cgroup_limit("pids", "pids.max").value_or(unlimited),
         "raise it in the control group or container"},
        {"kernel.threads-max", number_in("/proc/sys/kernel/threads-max"), "raise it with sysctl -w kernel.threads-max"},
        {"kernel.pid_max less 300 that the kernel keeps", ids == unlimited ? ids : ids - std::min(ids, reserved),
         "raise it with sysctl -w kernel.pid_max"}};
    constexpr std::uint64_t mappings_of_one_task = 4;
    const std::uint64_t mappings = number_in("/proc/sys/vm/max_map_count");
    if (mappings <= procfs::lines_of("/proc/self/maps") + mappings_of_one_task)
        limits.push_back({"vm.max_map_count", mappings, "raise it with sysctl -w vm.max_map_count"});
    return limits;
}

std::uint64_t tasks_of_the_system() {
    const std::string load = procfs::first_line("/proc/loadavg");  // ... RUNNING/ALL LAST
    const std::size_t slash = load.find('/');
    const std::uint64_t tasks = slash == std::string::npos ? 0 : std::strtoull(load.c_str() + slash + 1, nullptr, 10);
    return tasks != 0 ? tasks : unlimited;
}

bool calls_are_filtered() { return procfs::read_field("/proc/self/status", "\nSeccomp:") == 2u; }

std::vector<Limit> file_limits() {
    std::vector<Limit> limits = {
        {"fs.file-max", number_in("/proc/sys/fs/file-max"), "raise it with sysctl -w fs.file-max"}};
    const std::uint64_t pages = number_in("/proc/sys/fs/pipe-user-pages-hard");  // 0: none
    if (pages != 0)
        limits.push_back({"fs.pipe-user-pages-hard", pages, "raise it with sysctl -w fs.pipe-user-pages-hard"});
    return limits;
}

std::vector<Limit> memory_limits(const char* cure) {
    const std::uint64_t group =
        procfs::cgroup_limit("memory", "memory.limit_in_bytes", "memory.max").value_or(unlimited);
    return {{"free memory in bytes", procfs::available_memory(), cure},
            {"memory limit of the control group in bytes", group, std::string("raise it, or ") + cure}};
}

const char* overcommit_cure() { return ", or allow overcommit (vm.overcommit_memory)"; }

std::uint64_t most_descriptors() { return unlimited; }

void use_small_pages(void* address, std::size_t bytes) { madvise(address, bytes, MADV_NOHUGEPAGE); }

std::size_t least_ucontext_stack() { return 0; }

int anonymous_file() { return memfd_create("switchcost-entered", 0); }

std::string path_of_this_program() {
    char buffer[4096];
    const ssize_t length = readlink("/proc/self/exe", buffer, sizeof buffer);
    return std::string(buffer, length > 0 ? static_cast<std::size_t>(length) : 0);
}

}  // namespace os

Memory own_memory() {
    return {kibibytes("/proc/self/smaps_rollup", "\nRss:"), address_space("/proc/self"),
            kibibytes("/proc/self/status", "\nVmPTE:")};
}

Memory private_memory(int id) {
    const std::string folder = "/proc/" + std::to_string(id);
    const std::string rollup = folder + "/smaps_rollup";
    return {kibibytes(rollup, "\nPrivate_Clean:") + kibibytes(rollup, "\nPrivate_Dirty:"), address_space(folder), 0};
}

std::int64_t kernel_memory_of_machine() {
    const std::string path = "/proc/meminfo";
    return kibibytes(path, "\nKernelStack:") + kibibytes(path, "\nPageTables:") + kibibytes(path, "\nSUnreclaim:");
}

std::int64_t settled_kernel_memory_of_machine() {
    constexpr timespec pause = {0, 10'000'000};
    constexpr int quiet_enough = 5, most = 100;
    constexpr std::int64_t noise = 64 << 10;
    std::int64_t last = kernel_memory_of_machine();
    for (int quiet = 0, i = 0; quiet < quiet_enough && i < most; ++i) {
        nanosleep(&pause, nullptr);
        const std::int64_t now = kernel_memory_of_machine();
        quiet = now > last - noise ? quiet + 1 : 0;
        last = now;
    }
    return last;
}

std::optional<Unavailable> shadow_stack_in_the_way() {
#if defined(__x86_64__)
    constexpr int arch_shstk_status = 0x5005;  // asm/prctl.h of Linux 6.6 and later
    std::uint64_t features = 0;
    if (syscall(SYS_arch_prctl, arch_shstk_status, &features) == 0 && features != 0) {
        return Unavailable{"unsupported_here",
                           "a shadow stack is active in this process, and this switch does not change it",
                           "run with GLIBC_TUNABLES=glibc.cpu.x86_shstk=off"};
    }
#endif
    return std::nullopt;
}

}  // namespace probe
