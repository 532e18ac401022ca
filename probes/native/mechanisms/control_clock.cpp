// control/clock: one read of the clock that the batches are timed with.
#include "kit/os/clock.h"
#include "kit/ring/solo.h"

namespace probe {
namespace {

struct Clock {
    explicit Clock(const Plan&) {}
    [[gnu::always_inline]] std::uint64_t operator()(std::uint64_t token) {
        const std::uint64_t now = clock_now();
        asm volatile("" : : "r"(now));  // the reading is made and not used
        return token + 1;
    }
};

}  // namespace

extern const Entry control_clock{"control/clock", Shape::control, {"switch"}, {}, &make_control<Clock>};

}  // namespace probe
