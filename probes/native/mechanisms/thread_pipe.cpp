// thread/pipe: every context has a pipe; it writes the token into the next one's and blocks in a read of its own.
#include "kit/experiments/message.h"
#include "kit/parameters/payload.h"
#include "kit/ring/links.h"
#include "kit/tasks/tasks.h"

namespace probe {
namespace {

template <Mode mode>
using PipeRing = ThreadRing<mode, LinkMedium<PipeLink>>;
template <Mode mode>
using PipeMessage = Message<mode, PipeLink, PartnerIs::thread>;

std::unique_ptr<Workload> make(const Plan& plan, Mode mode) {
    return plan.experiment == "message" ? make_for_mode<PipeMessage>(plan, mode)
                                        : make_ring_for_mode<PipeRing>(plan, mode);
}

}  // namespace

extern const Entry thread_pipe{"thread/pipe",
                               Shape::tasks,
                               {"switch", "message"},
                               {payload_parameter(), sched_parameter(), idle_parameter(), working_set_parameter()},
                               &make};

}  // namespace probe
