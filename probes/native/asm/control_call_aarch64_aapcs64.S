// The smallest function that proves its calls, AArch64, AAPCS64. Declaration: asm/control_call.h.

        .text

// Entry: x0 = token.  Exit: x0 = token + 1. Nothing else changes.
        .globl  switchcost_control_callee
        .type   switchcost_control_callee, %function
        .p2align 6
switchcost_control_callee:
        .cfi_startproc
        add     x0, x0, #1
        ret
        .cfi_endproc
        .size   switchcost_control_callee, . - switchcost_control_callee

        .section .note.GNU-stack, "", %progbits
