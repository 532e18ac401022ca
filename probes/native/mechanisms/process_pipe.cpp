// process/pipe: thread/pipe between forked processes: the switch also changes the address space.
#include "kit/experiments/linked.h"

namespace probe {

extern const Entry process_pipe = linked_processes("process/pipe", &make_linked<LinkedProcesses<PipeLink>>);

}  // namespace probe
