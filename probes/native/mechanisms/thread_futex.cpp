// thread/futex: two system calls per switch and nothing else.
#include "kit/experiments/gap.h"
#include "kit/experiments/wakeup.h"
#include "kit/ring/futex.h"
#include "kit/tasks/tasks.h"

namespace probe {
namespace {

using Medium = FutexMedium<FutexScope::one_process>;

template <Mode mode>
using FutexRing = ThreadRing<mode, Medium>;

}  // namespace

extern const Entry thread_futex{
    "thread/futex",
    Shape::tasks,
    {"switch", "wakeup", "gap"},
    {sched_parameter(), idle_parameter(), working_set_parameter(), period_parameter(), gap_parameter()},
    &make_with_gap<&make_with_wakeup<Medium, &make_ring_for_mode<FutexRing>>>};

}  // namespace probe
