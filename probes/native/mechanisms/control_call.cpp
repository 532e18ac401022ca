// control/call: what a call and return through a pointer cost, the lower bound of any switch that is not inlined.
#include "asm/control_call.h"

#include "kit/ring/solo.h"

namespace probe {

extern const Entry control_call{
    "control/call", Shape::control, {"switch", "count"}, {}, &make_call_control<&switchcost_control_callee>};

}  // namespace probe
