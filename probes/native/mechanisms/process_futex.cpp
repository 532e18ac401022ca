// process/futex: thread/futex between forked processes, the words in shared memory.
#include "kit/parameters/resident.h"
#include "kit/parameters/simd.h"
#include "kit/ring/futex.h"
#include "kit/ring/spinning.h"
#include "kit/tasks/processes.h"

namespace probe {
namespace {

using Medium = FutexMedium<FutexScope::shared_memory>;

template <Mode mode>
using FutexRing = ProcessRing<mode, Medium>;
template <Mode mode>
using SpinningRing = ProcessRing<mode, SpinningMedium<FutexScope::shared_memory>>;
template <Mode mode>
using DirtyRing = ProcessRing<mode, DirtyMedium<Medium>>;
template <Mode mode>
using ResidentRing = ProcessRing<mode, ResidentMedium<Medium>>;

std::unique_ptr<Workload> make(const Plan& plan, Mode mode) {
    const bool dirty = plan.text("simd") != "clean", resident = plan.number("resident") != 0;
    if (dirty + resident + (plan.number("spin") != 0) > 1)
        throw unsupported("unsupported_here", "resident, simd and spin are measured one at a time; leave out others");
    if (dirty) return make_ring_for_mode<DirtyRing>(plan, mode);
    if (resident) return make_ring_for_mode<ResidentRing>(plan, mode);
    return make_spinning<FutexRing, SpinningRing>(plan, mode);
}

std::vector<Parameter> parameters() {
    std::vector<Parameter> all = resident_parameters();
    all.insert(all.end(), {sched_parameter(), simd_parameter(), speculation_parameter(), spin_parameter(),
                           working_set_parameter()});
    return all;
}

}  // namespace

extern const Entry process_futex{"process/futex", Shape::tasks, {"switch"}, parameters(), &make};

}  // namespace probe
