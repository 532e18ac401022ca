// thread/epoll-edge: how Rust's mio, and with it Tokio, wakes an event loop: the counter is watched edge-triggered, so
// that adding one to it is news each time and nobody has to read it. The token is a word beside it.
#include "kit/ring/eventfd_link.h"
#include "kit/ring/polled.h"

namespace probe {
namespace {

struct alignas(64) Slot {
    Descriptor counter{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    EpollWaiter<EPOLLIN | EPOLLET> waiter{counter.get()};
    std::uint64_t token = 0;
};

struct Port {
    Slot* own;
    Slot* next;

    [[gnu::always_inline]] void send(std::uint64_t token) const {
        constexpr std::uint64_t one = 1;
        next->token = token;
        write_whole(next->counter.get(), &one, sizeof one);
    }
    [[gnu::always_inline]] std::uint64_t receive() const {
        own->waiter.wait();
        return own->token;
    }
};

template <Mode mode>
using EpollEdgeRing = ThreadRing<mode, SlotMedium<Slot, Port>>;

}  // namespace

extern const Entry thread_epoll_edge{"thread/epoll-edge",
                                     Shape::tasks,
                                     {"switch"},
                                     {sched_parameter(), working_set_parameter()},
                                     &make_ring_for_mode<EpollEdgeRing>};

}  // namespace probe
