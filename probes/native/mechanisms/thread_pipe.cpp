// thread/pipe: every context has a pipe; it writes the token into the next one's and blocks in a read of its own.
#include "kit/experiments/linked.h"
#include "kit/experiments/wakeup.h"

namespace probe {

extern const Entry thread_pipe{
    "thread/pipe",
    Shape::tasks,
    {"switch", "message", "wakeup"},
    {payload_parameter(), sched_parameter(), idle_parameter(), working_set_parameter(), period_parameter()},
    &make_with_wakeup<LinkMedium<PipeLink>, &make_linked<LinkedThreads<PipeLink>>>};

}  // namespace probe
