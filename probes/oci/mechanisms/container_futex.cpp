// container/futex between processes in containers of an OCI runtime.
#include "kit/containers/ring.h"
#include "kit/ring/futex.h"
#include "oci_runtime.h"

namespace probe {

extern const Entry container_futex{"container/futex",
                                   Shape::tasks,
                                   {"switch"},
                                   container_parameters(),
                                   &make_container_ring<FutexMedium<FutexScope::shared_memory>>,
                                   &runtime_missing};

}  // namespace probe
