// thread/signal-handler: a context waits by sigsuspend; a handler takes the value of the signal that interrupts it.
#include "kit/ring/signals.h"

namespace probe {
namespace {

// 0: nothing came. A token is never zero.
thread_local volatile std::uint64_t arrived = 0;

void on_signal(int, siginfo_t* news, void*) { arrived = token_of(*news); }

class HandlerReceiver {
public:
    explicit HandlerReceiver(const sigset_t& signals) {
        struct sigaction action = {};
        action.sa_sigaction = &on_signal;
        action.sa_flags = SA_SIGINFO | SA_RESTART;
        sigaction(SIGRTMIN, &action, nullptr);
        pthread_sigmask(SIG_BLOCK, nullptr, &open_);
        for (int number = 1; number <= SIGRTMAX; ++number)
            if (sigismember(&signals, number) == 1) sigdelset(&open_, number);
    }
    [[gnu::always_inline]] std::uint64_t receive() const {
        arrived = 0;
        do sigsuspend(&open_);
        while (arrived == 0);
        return arrived;
    }

private:
    sigset_t open_;
};

template <Mode mode>
using SignalHandlerRing = ThreadRing<mode, SignalMedium<HandlerReceiver>>;

}  // namespace

extern const Entry thread_signal_handler{"thread/signal-handler",
                                         Shape::tasks,
                                         {"switch"},
                                         {sched_parameter(), working_set_parameter()},
                                         &make_ring_for_mode<SignalHandlerRing>};

}  // namespace probe
