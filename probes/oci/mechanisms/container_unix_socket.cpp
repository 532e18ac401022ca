// container/unix-socket between processes in containers of an OCI runtime.
#include "kit/containers/ring.h"
#include "kit/ring/links.h"
#include "oci_runtime.h"

namespace probe {

extern const Entry container_unix_socket{"container/unix-socket",
                                         Shape::tasks,
                                         {"switch"},
                                         container_parameters(),
                                         &make_container_ring<LinkMedium<UnixLink>>,
                                         &runtime_missing};

}  // namespace probe
