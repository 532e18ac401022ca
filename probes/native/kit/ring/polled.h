// Media of event loops: a context asks the kernel whether its descriptor can be read, and reads it when it can, without
// ever waiting there. A Waiter is what it asks:
//
//   explicit Waiter(int fd);                       may throw Failure
//   void wait() const;                             blocks until fd is readable
#pragma once

#include <poll.h>
#include <sys/epoll.h>

#include <memory>

#include "kit/ring/links.h"
#include "kit/tasks/tasks.h"

namespace probe {

// An epoll instance that watches one descriptor, as `events` says.
template <std::uint32_t events>
class EpollWaiter {
public:
    explicit EpollWaiter(int fd) : epoll_(epoll_create1(EPOLL_CLOEXEC)) {
        epoll_event event{};
        event.events = events;
        if (!epoll_.is_open() || epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0)
            throw link_failure(0, 1, errno);
    }
    [[gnu::always_inline]] void wait() const {
        epoll_event event;
        while (epoll_wait(epoll_.get(), &event, 1, -1) == -1 && errno == EINTR) {}
    }

private:
    Descriptor epoll_;
};

class PollWaiter {
public:
    explicit PollWaiter(int fd) : fd_(fd) {}
    [[gnu::always_inline]] void wait() const {
        pollfd one{fd_, POLLIN, 0};
        while (poll(&one, 1, -1) == -1 && errno == EINTR) {}
    }

private:
    int fd_;
};

template <class Link, class Waiter>
class PolledMedium {
public:
    using Token = std::uint64_t;

    struct Port {
        LinkPort link;
        const Waiter* waiter;

        [[gnu::always_inline]] void send(Token token) const { link.send(token); }
        [[gnu::always_inline]] Token receive() const {
            Token token = 0;
            do waiter->wait();
            while (read(link.own, &token, sizeof token) != sizeof token);
            return token;
        }
    };

    explicit PolledMedium(std::uint32_t contexts) : to_(open_ring<Link>(contexts)) {
        waiters_.reserve(contexts);
        for (const LinkEnds& ends : to_) {
            fcntl(ends.read.get(), F_SETFL, O_NONBLOCK);
            waiters_.emplace_back(ends.read.get());
        }
    }
    Port port(std::uint32_t context) const {
        return {{to_[context].read.get(), to_[next_in_ring(context, to_.size())].write.get()}, &waiters_[context]};
    }

private:
    std::vector<LinkEnds> to_;
    std::vector<Waiter> waiters_;
};

// Of a ring of threads.
template <class Link, class Waiter>
struct PolledThreads {
    using Medium = PolledMedium<Link, Waiter>;
    template <Mode mode>
    using Ring = ThreadRing<mode, Medium>;
};

}  // namespace probe
