// thread/futex: two system calls per switch and nothing else.
#include "kit/experiments/gap.h"
#include "kit/experiments/wakeup.h"
#include "kit/parameters/simd.h"
#include "kit/ring/futex.h"
#include "kit/ring/spinning.h"
#include "kit/tasks/tasks.h"

namespace probe {
namespace {

using Medium = FutexMedium<FutexScope::one_process>;

template <Mode mode>
using FutexRing = ThreadRing<mode, Medium>;
template <Mode mode>
using SpinningRing = ThreadRing<mode, SpinningMedium<FutexScope::one_process>>;
template <Mode mode>
using DirtyRing = ThreadRing<mode, DirtyMedium<Medium>>;

std::unique_ptr<Workload> make_ring(const Plan& plan, Mode mode) {
    if (plan.text("simd") == "clean") return make_spinning<FutexRing, SpinningRing>(plan, mode);
    if (plan.number("spin") == 0) return make_ring_for_mode<DirtyRing>(plan, mode);
    throw unsupported("unsupported_here", "simd and spin are measured one at a time; leave out one of them");
}

}  // namespace

extern const Entry thread_futex{"thread/futex",
                                Shape::tasks,
                                {"switch", "wakeup", "gap"},
                                {sched_parameter(), idle_parameter(), working_set_parameter(), period_parameter(),
                                 gap_parameter(), simd_parameter(), spin_parameter()},
                                &make_with_gap<&make_with_wakeup<Medium, &make_ring>>};

}  // namespace probe
