// The smallest function that proves its calls. Declaration: asm/control_call.h.

        .intel_syntax noprefix
        .text

// Entry: rdi = token.  Exit: rax = token + 1. Nothing else changes.
        .globl  switchcost_control_callee
        .type   switchcost_control_callee, @function
        .p2align 6
switchcost_control_callee:
        .cfi_startproc
        lea     rax, [rdi + 1]
        ret
        .cfi_endproc
        .size   switchcost_control_callee, . - switchcost_control_callee

        .section .note.GNU-stack, "", @progbits
