// thread/signal-wait: a context waits by sigwaitinfo for the signal that the one before it queues for its thread.
#include "kit/ring/signals.h"

namespace probe {
namespace {

class WaitReceiver {
public:
    explicit WaitReceiver(const sigset_t& signals) : signals_(signals) {}
    [[gnu::always_inline]] std::uint64_t receive() const {
        siginfo_t news;
        while (sigwaitinfo(&signals_, &news) == -1) {}
        return token_of(news);
    }

private:
    sigset_t signals_;
};

template <Mode mode>
using SignalWaitRing = ThreadRing<mode, SignalMedium<WaitReceiver>>;

}  // namespace

extern const Entry thread_signal_wait{"thread/signal-wait",
                                      Shape::tasks,
                                      {"switch"},
                                      {sched_parameter(), working_set_parameter()},
                                      &make_ring_for_mode<SignalWaitRing>};

}  // namespace probe
