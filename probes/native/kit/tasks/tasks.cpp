#include "kit/tasks/tasks.h"

#include <cerrno>

#include "kit/os/posix.h"

namespace probe {
namespace {

// The loop of a context needs about 1 KiB; the rest is for signal frames with AVX-512 state and for the C library's
// thread data.
constexpr std::size_t thread_stack_bytes = 64 * 1024;

// Whether the thread itself is refused, wherever it is to run.
bool threads_are_refused() {
    pthread_t thread;
    const int error = pthread_create(&thread, nullptr, [](void* nothing) { return nothing; }, nullptr);
    if (error == 0) pthread_join(thread, nullptr);
    return error != 0;
}

}  // namespace

void Threads::start(void* (*body)(void*), void* argument, int cpu, std::uint32_t wanted) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, thread_stack_bytes);
    // Without guard pages neighbouring stacks merge into one mapping, and 10 000 threads stay below vm.max_map_count.
    pthread_attr_setguardsize(&attributes, 0);
    pthread_t thread;
    const int error = os::create_thread(thread, attributes, body, argument, cpu);
    pthread_attr_destroy(&attributes);
    if (error == 0) {
        threads_.push_back(thread);
        return;
    }
    if (cpu >= 0 && (error == EINVAL || error == EPERM) && !threads_are_refused())
        throw os::placement_failure(cpu, error);
    throw task_limit_failure("thread", static_cast<std::uint32_t>(threads_.size()) + 1, wanted, error);
}

void Threads::join() {
    for (const pthread_t thread : threads_) pthread_join(thread, nullptr);
    threads_.clear();
}

}  // namespace probe
