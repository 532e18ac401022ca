// thread/unix-socket: as thread/pipe, through stream sockets of the Unix domain.
#include "kit/experiments/message.h"
#include "kit/parameters/payload.h"
#include "kit/ring/links.h"
#include "kit/tasks/tasks.h"

namespace probe {
namespace {

template <Mode mode>
using UnixRing = ThreadRing<mode, LinkMedium<UnixLink>>;
template <Mode mode>
using UnixMessage = Message<mode, UnixLink, PartnerIs::thread>;

std::unique_ptr<Workload> make(const Plan& plan, Mode mode) {
    return plan.experiment == "message" ? make_for_mode<UnixMessage>(plan, mode)
                                        : make_ring_for_mode<UnixRing>(plan, mode);
}

}  // namespace

extern const Entry thread_unix_socket{"thread/unix-socket",
                                      Shape::tasks,
                                      {"switch", "message"},
                                      {payload_parameter(), sched_parameter(), working_set_parameter()},
                                      &make};

}  // namespace probe
