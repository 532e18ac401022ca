// process/pipe: thread/pipe between forked processes: the switch also changes the address space.
#include "kit/experiments/message.h"
#include "kit/parameters/payload.h"
#include "kit/ring/links.h"
#include "kit/ring/process_links.h"

namespace probe {
namespace {

template <Mode mode>
using PipeRing = ProcessRing<mode, ProcessLinkMedium<PipeLink>>;
template <Mode mode>
using PipeMessage = Message<mode, PipeLink, PartnerIs::process>;

std::unique_ptr<Workload> make(const Plan& plan, Mode mode) {
    return plan.experiment == "message" ? make_for_mode<PipeMessage>(plan, mode)
                                        : make_ring_for_mode<PipeRing>(plan, mode);
}

}  // namespace

extern const Entry process_pipe{
    "process/pipe",
    Shape::tasks,
    {"switch", "message"},
    {payload_parameter(), sched_parameter(), speculation_parameter(), working_set_parameter()},
    &make};

}  // namespace probe
