// The smallest function that proves its calls, AArch64, AAPCS64. Declaration: asm/control_call.h.

#include "asm/object_format.h"

        .text

// Entry: x0 = token.  Exit: x0 = token + 1. Nothing else changes.
        .globl  SYMBOL(switchcost_control_callee)
        IS_FUNCTION(switchcost_control_callee)
        .p2align 6
SYMBOL(switchcost_control_callee):
        .cfi_startproc
        add     x0, x0, #1
        ret
        .cfi_endproc
        END_OF_FUNCTION(switchcost_control_callee)

        END_OF_FILE
