// process/unix-datagram: thread/unix-datagram between forked processes.
#include "kit/parameters/speculation.h"
#include "kit/ring/process_links.h"

namespace probe {
namespace {

template <Mode mode>
using DatagramRing = ProcessRing<mode, ProcessLinkMedium<UnixDatagramLink>>;

}  // namespace

extern const Entry process_unix_datagram{"process/unix-datagram",
                                         Shape::tasks,
                                         {"switch"},
                                         {sched_parameter(), speculation_parameter(), working_set_parameter()},
                                         &make_ring_for_mode<DatagramRing>};

}  // namespace probe
