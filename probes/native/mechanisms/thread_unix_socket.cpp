// thread/unix-socket: as thread/pipe, through stream sockets of the Unix domain.
#include "kit/experiments/linked.h"

namespace probe {

extern const Entry thread_unix_socket{"thread/unix-socket",
                                      Shape::tasks,
                                      {"switch", "message"},
                                      {payload_parameter(), sched_parameter(), working_set_parameter()},
                                      &make_linked<LinkedThreads<UnixLink>>};

}  // namespace probe
