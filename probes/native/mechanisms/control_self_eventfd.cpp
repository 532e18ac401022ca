// control/self-eventfd: a number into an event counter and out again by the same thread: thread/eventfd without the
// switch.
#include "kit/ring/eventfd_link.h"
#include "kit/ring/self_link.h"

namespace probe {
namespace {

template <Mode mode>
using SelfEventfd = SelfLink<mode, EventfdLink>;

}  // namespace

extern const Entry control_self_eventfd{
    "control/self-eventfd", Shape::control, {"switch"}, {}, &make_for_mode<SelfEventfd>};

}  // namespace probe
