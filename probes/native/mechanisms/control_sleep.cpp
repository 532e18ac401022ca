// control/sleep: a thread sleeps until a timer wakes it: a voluntary switch without a second thread.
#include "kit/ring/solo.h"
#include "kit/tasks/bare_calls.h"

namespace probe {
namespace {

Parameter sleep_parameter() { return {"nanoseconds", "1", {}, 1, 999'999'999}; }

template <Mode mode>
class Sleep final : public Solo<mode> {
public:
    explicit Sleep(const Plan& plan) : time_{0, static_cast<long>(plan.number("nanoseconds"))} {}
    void run(std::uint64_t units) override {
        this->repeat(units, [this](std::uint64_t token)
                                __attribute__((always_inline)) { return token + bare::sleep_for(time_); });
    }

private:
    const timespec time_;
};

}  // namespace

extern const Entry control_sleep{
    "control/sleep", Shape::control, {"switch"}, {sleep_parameter()}, &make_for_mode<Sleep>};

}  // namespace probe
