#include "kit/tasks.h"

#include <sched.h>

#include <cerrno>
#include <climits>
#include <string>

namespace probe {
namespace {

// The loop of a context needs about 1 KiB; the rest is for signal frames with AVX-512 state and for the C library's thread data.
constexpr std::size_t thread_stack_bytes = 64 * 1024;

cpu_set_t set_of(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<std::size_t>(cpu), &set);
    return set;
}

Failure placement_failure(int cpu, int error) {
    const std::string text = "a task could not be placed on CPU " + std::to_string(cpu);
    if (error == EPERM) return unsupported("no_permission", text + ": not permitted; run with the right to set CPU affinity", error);
    return unsupported("too_few_cpus", text + ": it does not exist or is outside this process's CPU set; choose another", error);
}

void check_placeable(int cpu) {
    if (cpu >= CPU_SETSIZE) throw placement_failure(cpu, EINVAL);
}

}  // namespace

void pin_self(int cpu) {
    if (cpu < 0) return;
    check_placeable(cpu);
    const cpu_set_t wanted = set_of(cpu);
    if (sched_setaffinity(0, sizeof wanted, &wanted) != 0) throw placement_failure(cpu, errno);
    if (sched_getcpu() != cpu) throw placement_failure(cpu, EINVAL);
}

void Threads::start(void* (*body)(void*), void* argument, int cpu, std::uint32_t wanted) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, thread_stack_bytes);
    // Without guard pages neighbouring stacks merge into one mapping, and 10 000 threads stay below vm.max_map_count.
    pthread_attr_setguardsize(&attributes, 0);
    if (cpu >= 0) {
        check_placeable(cpu);
        const cpu_set_t set = set_of(cpu);
        pthread_attr_setaffinity_np(&attributes, sizeof set, &set);
    }
    pthread_t thread;
    const int error = pthread_create(&thread, &attributes, body, argument);
    pthread_attr_destroy(&attributes);
    if (error == 0) {
        threads_.push_back(thread);
        return;
    }
    if (cpu >= 0 && (error == EINVAL || error == EPERM)) throw placement_failure(cpu, error);
    throw task_limit_failure("thread", static_cast<std::uint32_t>(threads_.size()) + 1, wanted, error);
}

void Threads::join() {
    for (const pthread_t thread : threads_) pthread_join(thread, nullptr);
    threads_.clear();
}

}  // namespace probe
