// The smallest function that proves its calls, RV64, psABI lp64d. Declaration: asm/control_call.h.

#include "asm/object_format.h"

        .text

// Entry: a0 = token.  Exit: a0 = token + 1. Nothing else changes.
        .globl  SYMBOL(switchcost_control_callee)
        IS_FUNCTION(switchcost_control_callee)
        .p2align 6
SYMBOL(switchcost_control_callee):
        .cfi_startproc
        addi    a0, a0, 1
        ret
        .cfi_endproc
        END_OF_FUNCTION(switchcost_control_callee)

        END_OF_FILE
