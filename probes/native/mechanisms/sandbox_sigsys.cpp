// sandbox/sigsys: a system call that a filter turns into a signal (SECCOMP_RET_TRAP), whose handler answers it in the
// same thread.
#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>

#include "kit/os/seccomp.h"
#include "kit/os/trapped.h"
#include "kit/plan/failure.h"
#include "kit/ring/solo.h"

namespace probe {
namespace {

// Which nobody else makes, and fails for the tokens.
constexpr int trapped_call = SYS_getpgid;

volatile std::uint64_t answered = 0;

void answer(int, siginfo_t*, void* context) {
    ucontext_t& call = *static_cast<ucontext_t*>(context);
    answered = answered + 1;
    return_from_call(call, first_argument(call) + 1);
}

template <Mode mode>
class TrappedCalls final : public Solo<mode> {
public:
    explicit TrappedCalls(const Plan&) {
        struct sigaction action = {};
        action.sa_sigaction = &answer;
        action.sa_flags = SA_SIGINFO | SA_RESTART;
        sigaction(SIGSYS, &action, nullptr);
        SeccompFilter filter;
        filter.answered = trapped_call;
        filter.answer = SECCOMP_RET_TRAP;
        if (install_seccomp_filter(filter)) return;
        const int error = errno;
        throw unsupported(error == EPERM ? "no_permission" : "unsupported_here",
                          std::string("a seccomp filter was refused (") + std::strerror(error) +
                              "); it takes CONFIG_SECCOMP_FILTER, and a session whose own filter allows it",
                          error);
    }

    void run(std::uint64_t units) override {
        this->repeat(units, [](std::uint64_t token) __attribute__((always_inline)) {
            return static_cast<std::uint64_t>(syscall(trapped_call, token));
        });
    }

    void counting(bool on) override { answered_ = on ? answered : answered - answered_; }
    void add_counts(Counts& counts) const override { counts.emplace_back("answered", answered_); }

private:
    std::uint64_t answered_ = 0;
};

}  // namespace

extern const Entry sandbox_sigsys{"sandbox/sigsys", Shape::control, {"switch"}, {}, &make_for_mode<TrappedCalls>};

}  // namespace probe
