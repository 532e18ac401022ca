// process/unix-socket: thread/unix-socket between forked processes.
#include "kit/experiments/message.h"
#include "kit/parameters/payload.h"
#include "kit/ring/links.h"
#include "kit/ring/process_links.h"

namespace probe {
namespace {

template <Mode mode>
using UnixRing = ProcessRing<mode, ProcessLinkMedium<UnixLink>>;
template <Mode mode>
using UnixMessage = Message<mode, UnixLink, PartnerIs::process>;

std::unique_ptr<Workload> make(const Plan& plan, Mode mode) {
    return plan.experiment == "message" ? make_for_mode<UnixMessage>(plan, mode)
                                        : make_ring_for_mode<UnixRing>(plan, mode);
}

}  // namespace

extern const Entry process_unix_socket{
    "process/unix-socket",
    Shape::tasks,
    {"switch", "message"},
    {payload_parameter(), sched_parameter(), speculation_parameter(), working_set_parameter()},
    &make};

}  // namespace probe
