// process/futex: thread/futex between forked processes, the words in shared memory.
#include "kit/ring/futex.h"
#include "kit/tasks/processes.h"

namespace probe {
namespace {

template <Mode mode>
using FutexRing = ProcessRing<mode, FutexMedium<FutexScope::shared_memory>>;

}  // namespace

extern const Entry process_futex{"process/futex",
                                 Shape::tasks,
                                 {"switch"},
                                 {sched_parameter(), speculation_parameter(), working_set_parameter()},
                                 &make_ring_for_mode<FutexRing>};

}  // namespace probe
