// thread/timerfd: as thread/timer, the way of event loops: a timer that is a file is set to the time, epoll waits for
// it, and a read takes its news out.
#include <sys/timerfd.h>

#include "kit/experiments/wakeup.h"
#include "kit/ring/polled.h"

namespace probe {
namespace {

class TimerfdWaker : public OwnTimer {
public:
    explicit TimerfdWaker(const Plan& plan) : OwnTimer(plan) {}
    void wait(const Beat& beat, std::uint64_t due) {
        const itimerspec until{{}, timespec_of(beat.at(due))};
        timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &until, nullptr);
        waiter_.wait();
        std::uint64_t expirations = 0;
        read_whole(timer_.get(), &expirations, sizeof expirations);
    }

private:
    Descriptor timer_{timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)};
    EpollWaiter<EPOLLIN> waiter_{timer_.get()};
};

std::unique_ptr<Workload> make(const Plan& plan, Mode) { return std::make_unique<Wakeup<TimerfdWaker>>(plan); }

}  // namespace

extern const Entry thread_timerfd{
    "thread/timerfd", Shape::tasks, {"wakeup"}, {period_parameter(), phase_parameter()}, &make};

}  // namespace probe
