// process/unix-socket: thread/unix-socket between forked processes.
#include "kit/experiments/linked.h"

namespace probe {

extern const Entry process_unix_socket =
    linked_processes("process/unix-socket", &make_linked<LinkedProcesses<UnixLink>>);

}  // namespace probe
