// sandbox/pipe: process/pipe behind a wall, which each read and write passes.
#include "kit/experiments/linked.h"
#include "kit/parameters/wall.h"

namespace probe {
namespace {

template <Mode mode>
using PipeRing = LinkedProcesses<PipeLink>::Switches<mode>;

}  // namespace

extern const Entry sandbox_pipe{"sandbox/pipe",
                                Shape::tasks,
                                {"switch"},
                                {wall_parameter(), sched_parameter(), working_set_parameter()},
                                &make_ring_for_mode<PipeRing>};

}  // namespace probe
