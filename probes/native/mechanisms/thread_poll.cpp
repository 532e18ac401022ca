// thread/poll: thread/eventfd, and poll before each read: the kernel is told anew each time what to wait for.
#include "kit/ring/eventfd_link.h"
#include "kit/ring/polled.h"

namespace probe {
namespace {

template <Mode mode>
using PollRing = PolledThreads<EventfdLink, PollWaiter>::Ring<mode>;

}  // namespace

extern const Entry thread_poll{"thread/poll",
                               Shape::tasks,
                               {"switch"},
                               {sched_parameter(), working_set_parameter()},
                               &make_ring_for_mode<PollRing>};

}  // namespace probe
