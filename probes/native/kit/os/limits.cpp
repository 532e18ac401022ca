#include "kit/os/limits.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "kit/os/posix.h"
#include "kit/ring/shared.h"

namespace probe {
namespace {

using Resource = decltype(RLIMIT_NOFILE);  // an enumeration of its own in glibc

std::uint64_t soft_limit(Resource resource) {
    rlimit limit{};
    if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return unlimited;
    return limit.rlim_cur;
}

void raise_soft_limit(Resource resource, std::uint64_t most) {
    rlimit limit{};
    if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
    limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, most);
    setrlimit(resource, &limit);  // failure leaves the old limit, which is then named if it is in the way
}

// The kernel says EAGAIN for all of them, so the lowest is the likeliest.
Limit lowest(const std::vector<Limit>& limits) {
    return *std::min_element(limits.begin(), limits.end(),
                             [](const Limit& left, const Limit& right) { return left.value < right.value; });
}

std::string sentence(const std::string& what, const Limit& limit) {
    return what + ": the limit in the way is " + limit.name + " = " + std::to_string(limit.value) + "; " + limit.cure;
}

std::string refused_sentence(const std::string& what, std::uint32_t made, std::uint32_t wanted, int error) {
    return "the system refused " + what + " " + std::to_string(made + 1) + " of " + std::to_string(wanted) + " (" +
           std::strerror(error) + ")";
}

// The C library maps the stack of a thread before it asks for the thread, as large as this limit is unless the thread
// has another size, and says EAGAIN if that is refused.
bool stack_is_refused() {
    const std::uint64_t stack = soft_limit(RLIMIT_STACK);
    if (stack == unlimited) return false;
    void* address = mmap(nullptr, stack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (address == MAP_FAILED) return true;
    munmap(address, stack);
    return false;
}

Limit descriptor_limit(int error) {
    if (error == ENFILE) return lowest(os::file_limits());
    return {"RLIMIT_NOFILE", soft_limit(RLIMIT_NOFILE), "raise the hard limit with ulimit -Hn"};
}

// No limit helps where the call itself is missing.
Failure missing_call(const std::string& text) {
    return unsupported("missing_syscall", text + ": this kernel, or a filter of the session (seccomp), lacks the call",
                       ENOSYS);
}

Failure filtered_call(const std::string& text) {
    const char* cure = os::calls_are_filtered() ? ": a filter of the session (seccomp) refuses the call; let it answer "
                                                  "ENOSYS to clone3, or run outside of it"
                                                : ": this session may not make tasks";
    return unsupported("no_permission", text + cure, EPERM);
}

}  // namespace

void raise_soft_limits() {
    raise_soft_limit(RLIMIT_NOFILE, os::most_descriptors());
    raise_soft_limit(RLIMIT_NPROC, unlimited);
}

bool is_descriptor_limit(int error) { return error == EMFILE || error == ENFILE; }

Failure task_limit_failure(const char* what, std::uint32_t made, std::uint32_t wanted, int error) {
    const std::string text = refused_sentence(what, made, wanted, error);
    if (error == ENOSYS) return missing_call(text);
    // Whoever makes a process with descriptors of its own may meet their limit first.
    if (is_descriptor_limit(error)) return unsupported("limit_reached", sentence(text, descriptor_limit(error)), error);
    if (error == EPERM) return filtered_call(text);
    std::vector<Limit> limits = os::task_limits();
    // The kernel does not apply RLIMIT_NPROC to the superuser.
    if (geteuid() != 0)
        limits.insert(limits.begin(), {"RLIMIT_NPROC", soft_limit(RLIMIT_NPROC), "raise it with ulimit -u"});
    // Each of them counts some of the machine's tasks: one that is higher than all of them is not in the way.
    const std::uint64_t tasks = os::tasks_of_the_system();
    std::erase_if(limits, [tasks](const Limit& limit) { return tasks != unlimited && limit.value > tasks + 1; });
    if (limits.empty())
        return unsupported(
            "limit_reached",
            text + ": no limit that can be seen here is that low; look at pids.max of the container or service", error);
    return unsupported("limit_reached", sentence(text, lowest(limits)), error);
}

Failure usual_thread_failure(std::uint32_t made, std::uint32_t wanted, int error) {
    if (error != EAGAIN || !stack_is_refused()) return task_limit_failure("thread", made, wanted, error);
    const Limit space{"RLIMIT_AS", soft_limit(RLIMIT_AS), "raise it with ulimit -v"};
    const Limit stack{"RLIMIT_STACK", soft_limit(RLIMIT_STACK), "lower it with ulimit -s"};
    const std::string text = refused_sentence("thread", made, wanted, error);
    return unsupported("limit_reached", sentence(text, space.value != unlimited ? space : stack), error);
}

Failure descriptor_limit_failure(std::uint32_t made, std::uint32_t wanted, int error) {
    const std::string text = refused_sentence("descriptors for context", made, wanted, error);
    if (error == ENOSYS) return missing_call(text);
    return unsupported("limit_reached", sentence(text, descriptor_limit(error)), error);
}

Failure memory_limit_failure(std::size_t bytes, int error) {
    const Limit space{"RLIMIT_AS", soft_limit(RLIMIT_AS), "raise it with ulimit -v"};
    const std::string text =
        "the system refused a mapping of " + std::to_string(bytes) + " bytes (" + std::strerror(error) + ")";
    if (space.value != unlimited) return unsupported("limit_reached", sentence(text, space), error);
    return unsupported("limit_reached", text + "; use fewer contexts or smaller stacks" + os::overcommit_cure(), error);
}

void require_memory(std::uint64_t bytes, const char* cure) {
    const Limit limit = lowest(os::memory_limits(cure));
    if (bytes <= limit.value / 5 * 4) return;
    throw unsupported("limit_reached",
                      sentence("about " + std::to_string(bytes) + " bytes of memory would be touched", limit), ENOMEM);
}

void* map_zeroed(std::size_t bytes, bool shared) {
    const int kind = shared ? MAP_SHARED : MAP_PRIVATE;
    void* address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (address == MAP_FAILED) throw memory_limit_failure(bytes, errno);
    os::use_small_pages(address, bytes);
    return address;
}

void unmap(void* address, std::size_t bytes) { munmap(address, bytes); }

}  // namespace probe
