// control/futex-calls: the two system calls of thread/futex when there is nobody to wake and nothing to wait for.
#include <cerrno>

#include "kit/ring/futex.h"
#include "kit/ring/solo.h"

namespace probe {
namespace {

template <Mode mode>
class FutexCalls final : public Solo<mode> {
public:
    explicit FutexCalls(const Plan& plan)
        : wakes_(plan.text("calls") != "wait"), waits_(plan.text("calls") != "wake") {}
    void run(std::uint64_t units) override {
        if (wakes_ && waits_) {
            this->repeat(units, [this](std::uint64_t token)
                                    __attribute__((always_inline)) { return token + (wakes_nobody() & is_refused()); });
        } else if (wakes_) {
            this->repeat(units,
                         [this](std::uint64_t token) __attribute__((always_inline)) { return token + wakes_nobody(); });
        } else {
            this->repeat(units,
                         [this](std::uint64_t token) __attribute__((always_inline)) { return token + is_refused(); });
        }
    }

private:
    [[gnu::always_inline]] unsigned wakes_nobody() {
        return syscall(SYS_futex, &word_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0) == 0;
    }
    [[gnu::always_inline]] unsigned is_refused() {
        return syscall(SYS_futex, &word_, FUTEX_WAIT_PRIVATE, 1, nullptr, nullptr, 0) == -1 && errno == EAGAIN;
    }

    std::uint32_t word_ = 0;  // never the 1 that is waited for, so that the wait is refused at once
    bool wakes_;
    bool waits_;
};

}  // namespace

extern const Entry control_futex_calls{"control/futex-calls",
                                       Shape::control,
                                       {"switch"},
                                       {{"calls", {"both", "wake", "wait"}}},
                                       &make_for_mode<FutexCalls>};

}  // namespace probe
