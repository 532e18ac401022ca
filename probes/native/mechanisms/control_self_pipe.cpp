// control/self-pipe: eight bytes into a pipe and out again by the same thread: thread/pipe without the switch.
#include "kit/ring/self_link.h"

namespace probe {
namespace {

template <Mode mode>
using SelfPipe = SelfLink<mode, PipeLink>;

}  // namespace

extern const Entry control_self_pipe{"control/self-pipe", Shape::control, {"switch"}, {}, &make_for_mode<SelfPipe>};

}  // namespace probe
