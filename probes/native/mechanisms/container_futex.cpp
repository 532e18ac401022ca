// container/futex: process/futex between processes in namespaces and control groups of their own, the words in memory
// that both map.
#include "kit/containers/ring.h"
#include "kit/ring/futex.h"

namespace probe {

extern const Entry container_futex{"container/futex",
                                   Shape::tasks,
                                   {"switch"},
                                   container_parameters(),
                                   &make_container_ring<FutexMedium<FutexScope::shared_memory>>,
                                   &runtime_missing};

}  // namespace probe
