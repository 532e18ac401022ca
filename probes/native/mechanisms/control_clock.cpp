// control/clock: one read of the clock that the batches are timed with.
#include "kit/os/clock.h"
#include "kit/ring/solo.h"

namespace probe {
namespace {

template <Mode mode>
class Clock final : public Solo<mode> {
public:
    explicit Clock(const Plan&) {}
    void run(std::uint64_t units) override {
        this->repeat(units, [](std::uint64_t token) __attribute__((always_inline)) {
            const std::uint64_t now = clock_now();
            asm volatile("" : : "r"(now));  // the reading is made and not used
            return token + 1;
        });
    }
};

}  // namespace

extern const Entry control_clock{"control/clock", Shape::control, {"switch"}, {}, &make_for_mode<Clock>};

}  // namespace probe
