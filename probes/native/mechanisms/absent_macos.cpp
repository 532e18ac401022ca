// What this probe cannot carry out on macOS, each with the reason: in the list, so that nobody looks for it in vain.
#include "kit/parameters/sched.h"
#include "kit/parameters/speculation.h"
#include "kit/parameters/working_set.h"
#include "kit/plan/mechanism.h"

namespace probe {
namespace {

std::optional<Unavailable> no_futex() { return Unavailable{"missing_syscall", "macOS has no futex", ""}; }
std::optional<Unavailable> no_eventfd() { return Unavailable{"missing_syscall", "macOS has no eventfd", ""}; }
std::optional<Unavailable> no_namespaces() {
    return Unavailable{"unsupported_here", "macOS has no namespaces and no control groups", ""};
}
std::optional<Unavailable> no_semaphore() {
    return Unavailable{"missing_syscall", "macOS has no unnamed POSIX semaphores: sem_init fails with ENOSYS", ""};
}

std::vector<Parameter> of_rings() { return {sched_parameter(), working_set_parameter()}; }

}  // namespace

extern const Entry container_futex{"container/futex", Shape::tasks, {"switch", "create"},
                                   of_rings(),        nullptr,      &no_namespaces};
extern const Entry container_pipe{"container/pipe", Shape::tasks, {"switch", "create"},
                                  of_rings(),       nullptr,      &no_namespaces};
extern const Entry container_unix_socket{
    "container/unix-socket", Shape::tasks, {"switch", "create"}, of_rings(), nullptr, &no_namespaces};
extern const Entry control_futex_calls{"control/futex-calls", Shape::control, {"switch"}, {}, nullptr, &no_futex};
extern const Entry control_self_eventfd{"control/self-eventfd", Shape::control, {"switch"}, {}, nullptr, &no_eventfd};
extern const Entry process_futex{"process/futex", Shape::tasks,
                                 {"switch"},      {sched_parameter(), speculation_parameter(), working_set_parameter()},
                                 nullptr,         &no_futex};
extern const Entry thread_eventfd{"thread/eventfd", Shape::tasks, {"switch"}, of_rings(), nullptr, &no_eventfd};
extern const Entry thread_futex{"thread/futex", Shape::tasks, {"switch"}, of_rings(), nullptr, &no_futex};
extern const Entry thread_semaphore{"thread/semaphore", Shape::tasks, {"switch"}, of_rings(), nullptr, &no_semaphore};

}  // namespace probe
