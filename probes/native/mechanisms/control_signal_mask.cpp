// control/signal-mask: the system call that swapcontext makes beside its switch of stacks: set the signal mask, get the old one.
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kit/solo.h"

namespace probe {
namespace {

template <Mode mode>
class SignalMask final : public Solo<mode> {
public:
    explicit SignalMask(const Plan&) { syscall(SYS_rt_sigprocmask, SIG_SETMASK, nullptr, &mask_, sizeof mask_); }
    void run(std::uint64_t units) override {
        this->repeat(units, [this](std::uint64_t token) __attribute__((always_inline)) {
            std::uint64_t old = 0;
            return token + (syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask_, &old, sizeof mask_) == 0);
        });
    }

private:
    std::uint64_t mask_ = 0;  // the kernel's form: one bit a signal
};

}  // namespace

extern const Entry control_signal_mask{"control/signal-mask", Shape::control, {"switch"}, {}, &make_for_mode<SignalMask>};

}  // namespace probe
