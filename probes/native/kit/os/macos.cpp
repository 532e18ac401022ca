// macOS.
//
// The kernel tells per process, not per thread, how often it switched, and not why; it tells the CPU that a thread runs
// on and lets nobody choose it: thread_policy_set takes affinity for a hint on x86-64 and refuses it on Apple silicon.
#include "kit/os/os.h"

#include <fcntl.h>
#include <libproc.h>
#include <mach-o/dyld.h>
#include <mach/mach.h>
#include <mach/mach_time.h>
#include <malloc/malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sysctl.h>
#include <unistd.h>

#undef current_task  // Mach's, a macro

#include <cerrno>
#include <limits>

#include "kit/os/memory.h"
#include "kit/os/posix.h"
#include "kit/parameters/idle.h"
#include "kit/parameters/sched.h"
#include "kit/parameters/speculation.h"
#include "kit/plan/failure.h"
#include "kit/stacks/stacks.h"
#include "kit/tasks/bare_thread.h"

namespace probe {
namespace {

bool read_task(int process, proc_taskinfo& info) {
    return proc_pidinfo(process, PROC_PIDTASKINFO, 0, &info, sizeof info) == sizeof info;
}

// Calls `use` for each process that has a task here, once. The tasks of a ring are of one process or each of its own.
template <class Use>
bool for_each_process(std::span<const TaskId> tasks, Use use) {
    int last = -1;
    for (const TaskId& task : tasks) {
        if (task.process == last) continue;
        last = task.process;
        proc_taskinfo info{};
        if (!read_task(task.process, info) || !use(info)) return false;
    }
    return true;
}

std::uint64_t number_of(const char* name) {
    std::uint64_t value = 0;  // an int is also put where the low half of this is
    std::size_t size = sizeof value;
    return sysctlbyname(name, &value, &size, nullptr, 0) == 0 ? value : unlimited;
}

Limit limit_of(const char* name) { return {name, number_of(name), std::string("raise it with sysctl -w ") + name}; }

// Times of the kernel come in units of the machine.
std::uint64_t nanoseconds(std::uint64_t units) {
    static const mach_timebase_info_data_t base = [] {
        mach_timebase_info_data_t read{};
        mach_timebase_info(&read);
        return read;
    }();
    return static_cast<std::uint64_t>(static_cast<unsigned __int128>(units) * base.numer / base.denom);
}

}  // namespace

void pin_self(int cpu) {
    if (cpu >= 0) throw os::placement_failure(cpu, 0);
}

namespace os {

std::string c_library() { return "libSystem"; }

int current_thread() { return static_cast<int>(pthread_mach_thread_np(pthread_self())); }

int current_cpu() {
    std::size_t cpu = 0;
    pthread_cpu_number_np(&cpu);  // fails only where it has no place to write to
    return static_cast<int>(cpu);
}

// There is no RUSAGE_THREAD. What the process has is the thread's as long as it is the only one.
std::optional<PageFaults> faults_of_thread() {
    proc_taskinfo info{};
    return read_task(getpid(), info) && info.pti_threadnum == 1 ? faults_of_process() : std::nullopt;
}

// All threads of a process of the probe's are tasks of the plan, so that the sum over the processes is the sum over the
// tasks. It is told as one number that stops at the largest 32 bits hold. (ru_nvcsw counts sleeps in the BSD half of
// the kernel alone, ru_nivcsw is the rest.)
std::optional<KernelSwitches> kernel_switches(std::span<const TaskId> tasks) {
    KernelSwitches sum;
    sum.tasks = static_cast<std::uint32_t>(tasks.size());
    const bool told = for_each_process(tasks, [&sum](const proc_taskinfo& info) {
        sum.voluntary += static_cast<std::uint64_t>(info.pti_csw);
        return info.pti_csw != std::numeric_limits<std::int32_t>::max();
    });
    if (!told) return std::nullopt;
    return sum;
}

const char* kernel_switches_source() {
    return "pti_csw of PROC_PIDTASKINFO, which does not tell voluntary from involuntary";
}
const char* kernel_switches_unknown() {
    return "PROC_PIDTASKINFO could not be read, or its counter of switches has reached its end";
}

std::optional<std::uint64_t> cpu_time_ns(std::span<const TaskId> tasks) {
    std::uint64_t sum = 0;
    const bool told = for_each_process(tasks, [&sum](const proc_taskinfo& info) {
        sum += nanoseconds(info.pti_total_user + info.pti_total_system);
        return true;
    });
    if (!told) return std::nullopt;
    return sum;
}

void trim_heap() { malloc_zone_pressure_relief(nullptr, 0); }

const char* kernel_memory_meaning() { return nullptr; }

std::size_t usable_cpus() { return static_cast<std::size_t>(sysconf(_SC_NPROCESSORS_ONLN)); }

int create_thread(pthread_t& thread, pthread_attr_t& attributes, void* (*body)(void*), void* argument, int cpu) {
    if (cpu >= 0) throw placement_failure(cpu, 0);
    return pthread_create(&thread, &attributes, body, argument);
}

Failure placement_failure(int cpu, int) {
    return unsupported("unsupported_here",
                       "a task could not be placed on CPU " + std::to_string(cpu) +
                           ": macOS has no call that holds a thread on a CPU; leave cpus empty (placement free)");
}

// Nothing sends a signal at a parent's death. The children of this probe block in a read and see the end of their link.
void end_with_parent() {}

std::uint64_t tasks_of_the_system() { return unlimited; }
bool calls_are_filtered() { return false; }

std::vector<Limit> task_limits() {
    return {limit_of("kern.num_taskthreads"), limit_of("kern.maxproc"), limit_of("kern.maxprocperuid")};
}

std::vector<Limit> file_limits() { return {limit_of("kern.maxfiles")}; }

std::vector<Limit> memory_limits(const char* cure) {
    vm_statistics64_data_t pages{};
    mach_msg_type_number_t count = HOST_VM_INFO64_COUNT;
    const mach_port_t host = mach_host_self();
    const bool told =
        host_statistics64(host, HOST_VM_INFO64, reinterpret_cast<host_info64_t>(&pages), &count) == KERN_SUCCESS;
    mach_port_deallocate(mach_task_self(), host);
    const std::uint64_t free = std::uint64_t{pages.free_count} + pages.inactive_count;
    return {{"free memory in bytes", told ? free * vm_kernel_page_size : unlimited, cure}};
}

const char* overcommit_cure() { return ""; }

std::uint64_t most_descriptors() { return number_of("kern.maxfilesperproc"); }

void use_small_pages(void*, std::size_t) {}  // anonymous memory has no others

std::size_t least_ucontext_stack() { return MINSIGSTKSZ; }

int anonymous_file() {
    const std::string name = "/switchcost-" + std::to_string(getpid());
    const int fd = shm_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
    if (fd == -1) return -1;
    shm_unlink(name.c_str());
    fcntl(fd, F_SETFD, 0);  // shm_open closes on exec
    return fd;
}

std::string path_of_this_program() {
    char buffer[4096];
    std::uint32_t size = sizeof buffer;
    return _NSGetExecutablePath(buffer, &size) == 0 ? buffer : "";
}

}  // namespace os

Memory own_memory() {
    proc_taskinfo info{};
    if (!read_task(getpid(), info))
        throw unsupported("unsupported_here",
                          "PROC_PIDTASKINFO does not tell this process's memory; nothing can be done");
    return {static_cast<std::int64_t>(info.pti_resident_size), static_cast<std::int64_t>(info.pti_virtual_size), 0};
}

// The footprint is what is charged to the process alone.
Memory private_memory(int id) {
    rusage_info_v2 usage{};
    proc_taskinfo info{};
    if (proc_pid_rusage(id, RUSAGE_INFO_V2, reinterpret_cast<rusage_info_t*>(&usage)) != 0 || !read_task(id, info)) {
        throw unsupported("unsupported_here",
                          "proc_pid_rusage does not tell the memory of process " + std::to_string(id), errno);
    }
    return {static_cast<std::int64_t>(usage.ri_phys_footprint), static_cast<std::int64_t>(info.pti_virtual_size), 0};
}

std::int64_t settled_kernel_memory_of_machine() { return 0; }
std::int64_t kernel_memory_of_machine() {
    return 0;
}  // not told: os::kernel_memory_meaning() is null, and the figure is left out

std::optional<Unavailable> shadow_stack_in_the_way() { return std::nullopt; }

BareThreads::BareThreads() : stack_(0) {
    throw unsupported("missing_syscall",
                      "macOS has no system call that makes a thread for programs; leave by=clone out");
}

int BareThreads::run_one(int (*)(void*), void*) { return 0; }

// pthread_setschedparam takes SCHED_FIFO, but what it gives is a fixed priority that the kernel calls round robin.
void schedule_self(const Plan& plan) {
    if (plan.text("sched") == "other") return;
    throw unsupported("unsupported_here",
                      "sched=" + plan.text("sched") + ": macOS has no such scheduling class; leave sched out");
}

void guard_self(const Plan& plan) {
    if (plan.text("speculation") == "system") return;
    throw unsupported("unsupported_here", "speculation=guarded: macOS lets no process choose; leave speculation out");
}

class IdleCpus::Spinners {};
class IdleCpus::Polling {};

IdleCpus::IdleCpus(const Plan& plan) {
    const auto parameter = plan.parameters.find("idle");
    if (parameter == plan.parameters.end() || parameter->second == "system") return;
    throw unsupported("unsupported_here",
                      "idle=" + parameter->second + ": macOS lets no program choose how a CPU idles; leave idle out");
}

IdleCpus::~IdleCpus() = default;

void IdleCpus::add_counts(Counts&) const {}

std::int64_t tasks_guarded(std::span<const TaskId>, const Plan&) { return 0; }

// Thread by thread of every process that has a task here; they are all tasks (see os::kernel_switches).
std::int64_t tasks_scheduled(std::span<const TaskId> tasks, const Plan&) {
    std::int64_t count = 0;
    int last = -1;
    std::vector<std::uint64_t> threads(tasks.size());
    for (const TaskId& task : tasks) {
        if (task.process == last) continue;
        last = task.process;
        const int bytes = proc_pidinfo(task.process, PROC_PIDLISTTHREADS, 0, threads.data(),
                                       static_cast<int>(threads.size() * sizeof threads[0]));
        for (std::size_t i = 0; i < static_cast<std::size_t>(bytes > 0 ? bytes : 0) / sizeof threads[0]; ++i) {
            proc_threadinfo info{};
            if (proc_pidinfo(task.process, PROC_PIDTHREADINFO, threads[i], &info, sizeof info) != sizeof info) continue;
            count += info.pth_policy == POLICY_TIMESHARE;
        }
    }
    return count;
}

}  // namespace probe
