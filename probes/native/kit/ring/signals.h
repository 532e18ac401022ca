// The medium of signals: every context is sent a real-time signal of its own thread's, queued with the token as its
// value, as sigqueue(3) queues one for a process. All contexts block it, but for where their Receiver takes it:
//
//   explicit Receiver(const sigset_t& signals);    may throw Failure; one per context
//   std::uint64_t receive();                       in the context's thread: waits for a signal and gives its value
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>
#include <memory>
#include <utility>
#include <vector>

#include "kit/ring/early.h"
#include "kit/tasks/tasks.h"

namespace probe {

inline siginfo_t queued_signal(int number) {
    siginfo_t news{};
    news.si_signo = number;
    news.si_code = SI_QUEUE;
    news.si_pid = getpid();
    news.si_uid = getuid();
    return news;
}

// The system call behind pthread_sigqueue, which would ask the kernel for its process and user each time.
[[gnu::always_inline]] inline long queue_signal(siginfo_t& news, int thread, std::uint64_t token) {
    news.si_value.sival_ptr = reinterpret_cast<void*>(token);
    return syscall(SYS_rt_tgsigqueueinfo, news.si_pid, thread, news.si_signo, &news);
}

inline std::uint64_t token_of(const siginfo_t& news) {
    return reinterpret_cast<std::uint64_t>(news.si_value.sival_ptr);
}

template <class Receiver>
class SignalMedium {
    struct alignas(64) Context {
        explicit Context(const sigset_t& signals) : receiver(signals) {}
        int thread = 0;  // known once it has begun
        EarlyToken<std::uint64_t> early;
        Receiver receiver;
    };

public:
    using Token = std::uint64_t;

    struct Port {
        Context* own;
        Context* next;
        siginfo_t news;
        Token came_early;

        [[gnu::always_inline]] void send(Token token) {
            if (next->early.leave(token)) [[unlikely]]
                return;
            queue_signal(news, next->thread, token);
        }
        [[gnu::always_inline]] Token receive() {
            if (came_early != 0) [[unlikely]]
                return std::exchange(came_early, 0);
            return own->receiver.receive();
        }
    };

    explicit SignalMedium(std::uint32_t contexts) {
        sigemptyset(&signals_);
        sigaddset(&signals_, SIGRTMIN);
        pthread_sigmask(SIG_BLOCK, &signals_, &before_);  // the threads inherit it
        try_one();
        for (std::uint32_t i = 0; i < contexts; ++i) contexts_.push_back(std::make_unique<Context>(signals_));
    }
    SignalMedium(const SignalMedium&) = delete;
    SignalMedium& operator=(const SignalMedium&) = delete;
    ~SignalMedium() {
        while (take_one()) {}  // the last one, which ended the ring
        pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }

    // In the context's thread.
    Port port(std::uint32_t context) {
        Context* const own = contexts_[context].get();
        own->thread = os::current_thread();
        return {own, contexts_[next_in_ring(context, contexts_.size())].get(), queued_signal(SIGRTMIN),
                own->early.begin()};
    }

private:
    bool take_one() const {
        constexpr timespec at_once{};
        return sigtimedwait(&signals_, nullptr, &at_once) > 0;
    }

    // One that the kernel did not queue would be waited for in vain.
    void try_one() {
        siginfo_t news = queued_signal(SIGRTMIN);
        const bool queued = queue_signal(news, os::current_thread(), 1) == 0;
        const int error = errno;
        if (queued && take_one()) return;
        pthread_sigmask(SIG_SETMASK, &before_, nullptr);
        throw unsupported(error == EAGAIN ? "limit_reached" : "unsupported_here",
                          "the system queued no signal: see how many may be pending (ulimit -i) and which filter "
                          "(seccomp) this session has",
                          error);
    }

    sigset_t signals_;
    sigset_t before_;
    std::vector<std::unique_ptr<Context>> contexts_;
};

}  // namespace probe
