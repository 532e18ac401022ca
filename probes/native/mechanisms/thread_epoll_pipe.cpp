// thread/epoll-pipe: thread/pipe in an event loop.
#include "kit/ring/polled.h"

namespace probe {
namespace {

template <Mode mode>
using EpollPipeRing = PolledThreads<PipeLink, EpollWaiter<EPOLLIN>>::Ring<mode>;

}  // namespace

extern const Entry thread_epoll_pipe{"thread/epoll-pipe",
                                     Shape::tasks,
                                     {"switch"},
                                     {sched_parameter(), working_set_parameter()},
                                     &make_ring_for_mode<EpollPipeRing>};

}  // namespace probe
