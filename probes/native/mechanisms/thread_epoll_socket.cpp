// thread/epoll-socket: thread/unix-socket in an event loop.
#include "kit/ring/polled.h"

namespace probe {
namespace {

template <Mode mode>
using EpollSocketRing = PolledThreads<UnixLink, EpollWaiter<EPOLLIN>>::Ring<mode>;

}  // namespace

extern const Entry thread_epoll_socket{"thread/epoll-socket",
                                       Shape::tasks,
                                       {"switch"},
                                       {sched_parameter(), working_set_parameter()},
                                       &make_ring_for_mode<EpollSocketRing>};

}  // namespace probe
