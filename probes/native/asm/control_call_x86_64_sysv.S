// The smallest function that proves its calls. Declaration: asm/control_call.h.

#include "asm/object_format.h"

        .intel_syntax noprefix
        .text

// Entry: rdi = token.  Exit: rax = token + 1. Nothing else changes.
        .globl  SYMBOL(switchcost_control_callee)
        IS_FUNCTION(switchcost_control_callee)
        .p2align 6
SYMBOL(switchcost_control_callee):
        .cfi_startproc
        lea     rax, [rdi + 1]
        ret
        .cfi_endproc
        END_OF_FUNCTION(switchcost_control_callee)

        END_OF_FILE
