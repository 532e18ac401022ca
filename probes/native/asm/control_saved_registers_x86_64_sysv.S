// The registers that stack_switch saves and loads, without its change of stacks. Declaration: asm/control_saved_registers.h.

#include "asm/object_format.h"

        .intel_syntax noprefix
        .text

// Entry: rdi = token.  Exit: rax = token + 1. Nothing else changes.
        .globl  SYMBOL(switchcost_control_saving_callee)
        IS_FUNCTION(switchcost_control_saving_callee)
        .p2align 6
SYMBOL(switchcost_control_saving_callee):
        .cfi_startproc
        push    rbp
        .cfi_adjust_cfa_offset 8
        push    rbx
        .cfi_adjust_cfa_offset 8
        push    r12
        .cfi_adjust_cfa_offset 8
        push    r13
        .cfi_adjust_cfa_offset 8
        push    r14
        .cfi_adjust_cfa_offset 8
        push    r15
        .cfi_adjust_cfa_offset 8
        lea     rax, [rdi + 1]
        pop     r15
        .cfi_adjust_cfa_offset -8
        pop     r14
        .cfi_adjust_cfa_offset -8
        pop     r13
        .cfi_adjust_cfa_offset -8
        pop     r12
        .cfi_adjust_cfa_offset -8
        pop     rbx
        .cfi_adjust_cfa_offset -8
        pop     rbp
        .cfi_adjust_cfa_offset -8
        ret
        .cfi_endproc
        END_OF_FUNCTION(switchcost_control_saving_callee)

        END_OF_FILE
