// control/signal-mask: the system call that swapcontext makes beside its switch of stacks: set the signal mask, get the
// old one.
#include "kit/os/bare_calls.h"
#include "kit/ring/solo.h"

namespace probe {
namespace {

struct SignalMask {
    explicit SignalMask(const Plan&) { bare::set_signal_mask(nullptr, &mask); }
    [[gnu::always_inline]] std::uint64_t operator()(std::uint64_t token) {
        bare::SignalMask old{};
        return token + bare::set_signal_mask(&mask, &old);
    }
    bare::SignalMask mask{};
};

}  // namespace

extern const Entry control_signal_mask{
    "control/signal-mask", Shape::control, {"switch", "count"}, {}, &make_control<SignalMask>};

}  // namespace probe
