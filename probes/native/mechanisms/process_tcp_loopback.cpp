// process/tcp-loopback: forked processes hand the token over by TCP through the loopback interface.
#include "kit/experiments/linked.h"

namespace probe {

extern const Entry process_tcp_loopback =
    linked_processes("process/tcp-loopback", &make_linked<LinkedProcesses<TcpLink>>);

}  // namespace probe
