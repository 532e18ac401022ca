// sandbox/ptrace: a process is stopped at a system call by its tracer, which looks at the call and lets it go on. The
// call carries the token to the tracer; on its way back the token lies in shared memory.
#include <sys/ptrace.h>
#include <sys/wait.h>

#include <linux/seccomp.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>

#include "kit/os/seccomp.h"
#include "kit/tasks/processes.h"

namespace probe {
namespace {

// Which nobody else makes, and does nothing.
constexpr int traced_call = SYS_getpgid;

class PtraceMedium {
    struct Common {
        std::atomic<pid_t> child;
        std::atomic<bool> seized;
        std::uint64_t token;  // for the child
    };

public:
    using Token = std::uint64_t;

    // The driver traces, its partner calls.
    struct Port {
        PtraceMedium* medium;
        bool traces;
        Token unsent = 0;

        [[gnu::always_inline]] void send(Token token) {
            if (!traces) {
                unsent = token;
                return;
            }
            if (!medium->stopped_) [[unlikely]]
                medium->await_call();
            medium->common_[0].token = token;
            ptrace(PTRACE_CONT, medium->child_, nullptr, nullptr);
            medium->stopped_ = false;
        }
        [[gnu::always_inline]] Token receive() {
            if (traces) return medium->await_call();
            syscall(traced_call, 0, unsent);
            return medium->common_[0].token;
        }
    };

    explicit PtraceMedium(std::uint32_t contexts) : common_(1) {
        if (contexts != 2)
            throw unsupported("unsupported_here", "a stop has one tracer and one that is traced; leave contexts at 2");
    }

    void before_fork(std::uint32_t) {}
    void after_fork(std::uint32_t) {
        Common& common = common_[0];
        while ((child_ = common.child.load()) == 0) sched_yield();
        if (ptrace(PTRACE_SEIZE, child_, nullptr, PTRACE_O_TRACESECCOMP | PTRACE_O_EXITKILL) != 0) {
            const int error = errno;
            throw unsupported("no_permission",
                              std::string("this session may not trace its own child (") + std::strerror(error) +
                                  "); see kernel.yama.ptrace_scope and the session's filter (seccomp)",
                              error);
        }
        common.seized.store(true);
    }
    Port in_child(std::uint32_t) {
        Common& common = common_[0];
        common.child.store(getpid());
        while (!common.seized.load()) sched_yield();
        SeccompFilter filter;
        filter.answered = traced_call;
        filter.answer = SECCOMP_RET_TRACE;
        if (!install_seccomp_filter(filter)) _exit(4);
        return {this, false};
    }
    Port port(std::uint32_t) { return {this, true}; }

private:
    // Until the child is stopped at the call. Other stops are not ours to keep.
    [[gnu::always_inline]] Token await_call() {
        int status = 0;
        while (waitpid(child_, &status, __WALL) != child_ || status >> 8 != (SIGTRAP | (PTRACE_EVENT_SECCOMP << 8))) {
            if (WIFSTOPPED(status)) let_go_on(status);
        }
        stopped_ = true;
        __ptrace_syscall_info call{};
        ptrace(PTRACE_GET_SYSCALL_INFO, child_, sizeof call, &call);
        return call.seccomp.args[1];
    }
    [[gnu::cold, gnu::noinline]] void let_go_on(int status) const {
        const bool signalled = status >> 16 == 0;
        ptrace(PTRACE_CONT, child_, nullptr, signalled ? WSTOPSIG(status) : 0);
    }

    SharedArray<Common> common_;
    pid_t child_ = 0;
    bool stopped_ = false;
};

template <Mode mode>
using PtraceRing = ProcessRing<mode, PtraceMedium>;

}  // namespace

extern const Entry sandbox_ptrace{"sandbox/ptrace",
                                  Shape::tasks,
                                  {"switch"},
                                  {sched_parameter(), working_set_parameter()},
                                  &make_ring_for_mode<PtraceRing>};

}  // namespace probe
