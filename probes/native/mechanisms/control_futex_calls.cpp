// control/futex-calls: the two system calls of thread/futex when there is nobody to wake and nothing to wait for.
#include <cerrno>

#include "kit/futex.h"
#include "kit/solo.h"

namespace probe {
namespace {

template <Mode mode>
class FutexCalls final : public Solo<mode> {
public:
    explicit FutexCalls(const Plan&) {}
    void run(std::uint64_t units) override {
        this->repeat(units, [this](std::uint64_t token) __attribute__((always_inline)) {
            const bool nobody = syscall(SYS_futex, &word_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0) == 0;
            const bool refused = syscall(SYS_futex, &word_, FUTEX_WAIT_PRIVATE, 1, nullptr, nullptr, 0) == -1 && errno == EAGAIN;
            return token + (nobody & refused);
        });
    }

private:
    std::uint32_t word_ = 0;  // never the 1 that is waited for, so that the wait is refused at once
};

}  // namespace

extern const Entry control_futex_calls{"control/futex-calls", Shape::control, {"switch"}, {}, &make_for_mode<FutexCalls>};

}  // namespace probe
