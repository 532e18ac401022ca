// thread/futex: two system calls per switch and nothing else.
#include "kit/ring/futex.h"
#include "kit/tasks/tasks.h"

namespace probe {
namespace {

template <Mode mode>
using FutexRing = ThreadRing<mode, FutexMedium<FutexScope::one_process>>;

}  // namespace

extern const Entry thread_futex{"thread/futex",
                                Shape::tasks,
                                {"switch"},
                                {sched_parameter(), idle_parameter(), working_set_parameter()},
                                &make_ring_for_mode<FutexRing>};

}  // namespace probe
