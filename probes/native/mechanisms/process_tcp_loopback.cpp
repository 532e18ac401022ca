// process/tcp-loopback: forked processes hand the token over by TCP through the loopback interface.
#include "kit/experiments/message.h"
#include "kit/parameters/payload.h"
#include "kit/ring/links.h"
#include "kit/ring/process_links.h"

namespace probe {
namespace {

template <Mode mode>
using TcpRing = ProcessRing<mode, ProcessLinkMedium<TcpLink>>;
template <Mode mode>
using TcpMessage = Message<mode, TcpLink, PartnerIs::process>;

std::unique_ptr<Workload> make(const Plan& plan, Mode mode) {
    return plan.experiment == "message" ? make_for_mode<TcpMessage>(plan, mode)
                                        : make_ring_for_mode<TcpRing>(plan, mode);
}

}  // namespace

extern const Entry process_tcp_loopback{
    "process/tcp-loopback",
    Shape::tasks,
    {"switch", "message"},
    {payload_parameter(), sched_parameter(), speculation_parameter(), working_set_parameter()},
    &make};

}  // namespace probe
