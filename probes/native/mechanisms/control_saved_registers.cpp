// control/saved-registers: control/call with a callee that saves and loads the registers which a switch of stacks does.
#include "asm/control_saved_registers.h"

#include "kit/ring/solo.h"

namespace probe {

extern const Entry control_saved_registers{"control/saved-registers",
                                           Shape::control,
                                           {"switch", "count"},
                                           {},
                                           &make_call_control<&switchcost_control_saving_callee>};

}  // namespace probe
