#include "kit/tasks/bare_thread.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "kit/os/limits.h"

namespace probe {
namespace {

constexpr std::size_t stack_bytes = 64 * 1024;

}  // namespace

BareThreads::BareThreads() : stack_(stack_bytes) {}

int BareThreads::run_one(int (*body)(void*), void* argument) {
    constexpr int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
                          CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;
    // The kernel writes the id before the thread runs, and zero with a wake-up when it has ended: that is how it is
    // joined.
    const int thread = clone(body, stack_.data() + stack_bytes, flags, argument, &id_, nullptr, &id_);
    if (thread == -1) [[unlikely]]
        throw task_limit_failure("thread", 0, 1, errno);
    for (std::uint32_t id; (id = id_.load(std::memory_order_acquire)) != 0;) {
        syscall(SYS_futex, &id_, FUTEX_WAIT, id, nullptr, nullptr, 0);
    }
    return thread;
}

}  // namespace probe
