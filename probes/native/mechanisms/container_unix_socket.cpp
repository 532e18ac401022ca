// container/unix-socket: process/unix-socket between processes in namespaces and control groups of their own. The
// sockets are made outside and inherited, as those that a runtime hands to two containers through a shared directory.
#include "kit/containers/ring.h"
#include "kit/ring/links.h"

namespace probe {

extern const Entry container_unix_socket{"container/unix-socket",
                                         Shape::tasks,
                                         {"switch"},
                                         container_parameters(),
                                         &make_container_ring<LinkMedium<UnixLink>>,
                                         &runtime_missing};

}  // namespace probe
