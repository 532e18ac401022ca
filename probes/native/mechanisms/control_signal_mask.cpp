// control/signal-mask: the system call that swapcontext makes beside its switch of stacks: set the signal mask, get the
// old one.
#include "kit/ring/solo.h"
#include "kit/tasks/bare_calls.h"

namespace probe {
namespace {

template <Mode mode>
class SignalMask final : public Solo<mode> {
public:
    explicit SignalMask(const Plan&) { bare::set_signal_mask(nullptr, &mask_); }
    void run(std::uint64_t units) override {
        this->repeat(units, [this](std::uint64_t token) __attribute__((always_inline)) {
            bare::SignalMask old{};
            return token + bare::set_signal_mask(&mask_, &old);
        });
    }

private:
    bare::SignalMask mask_{};
};

}  // namespace

extern const Entry control_signal_mask{
    "control/signal-mask", Shape::control, {"switch"}, {}, &make_for_mode<SignalMask>};

}  // namespace probe
