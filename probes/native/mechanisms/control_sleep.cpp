// control/sleep: a thread sleeps until a timer wakes it: a voluntary switch without a second thread.
#include "kit/os/bare_calls.h"
#include "kit/ring/solo.h"

namespace probe {
namespace {

Parameter sleep_parameter() { return {"nanoseconds", {}}; }

struct Sleep {
    explicit Sleep(const Plan& plan) : time{0, static_cast<long>(plan.number("nanoseconds"))} {}
    [[gnu::always_inline]] std::uint64_t operator()(std::uint64_t token) { return token + bare::sleep_for(time); }
    const timespec time;
};

}  // namespace

extern const Entry control_sleep{
    "control/sleep", Shape::control, {"switch"}, {sleep_parameter()}, &make_control<Sleep>};

}  // namespace probe
