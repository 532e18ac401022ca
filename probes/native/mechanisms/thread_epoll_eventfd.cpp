// thread/epoll-eventfd: thread/eventfd in an event loop: every context waits in epoll for its counter, and then reads
// it.
#include "kit/experiments/wakeup.h"
#include "kit/ring/eventfd_link.h"
#include "kit/ring/polled.h"

namespace probe {
namespace {

using Polled = PolledThreads<EventfdLink, EpollWaiter<EPOLLIN>>;

}  // namespace

extern const Entry thread_epoll_eventfd{
    "thread/epoll-eventfd",
    Shape::tasks,
    {"switch", "wakeup"},
    {sched_parameter(), idle_parameter(), working_set_parameter(), period_parameter()},
    &make_with_wakeup<Polled::Medium, &make_ring_for_mode<Polled::Ring>>};

}  // namespace probe
