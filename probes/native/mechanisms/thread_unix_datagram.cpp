// thread/unix-datagram: as thread/unix-socket, by datagrams: the kernel keeps the borders of messages.
#include "kit/ring/links.h"
#include "kit/tasks/tasks.h"

namespace probe {
namespace {

template <Mode mode>
using DatagramRing = ThreadRing<mode, LinkMedium<UnixDatagramLink>>;

}  // namespace

extern const Entry thread_unix_datagram{"thread/unix-datagram",
                                        Shape::tasks,
                                        {"switch"},
                                        {sched_parameter(), working_set_parameter()},
                                        &make_ring_for_mode<DatagramRing>};

}  // namespace probe
