// thread/timer: a thread sleeps until a time that was fixed beforehand (clock_nanosleep, TIMER_ABSTIME).
#include "kit/experiments/wakeup.h"

namespace probe {
namespace {

std::unique_ptr<Workload> make(const Plan& plan, Mode) { return std::make_unique<Wakeup<TimerWaker>>(plan); }

}  // namespace

extern const Entry thread_timer{
    "thread/timer", Shape::tasks, {"wakeup"}, {period_parameter(), phase_parameter()}, &make};

}  // namespace probe
