// The registers that stack_switch saves and loads, without its change of stacks, AArch64, AAPCS64. Declaration:
// asm/control_saved_registers.h.

#include "asm/object_format.h"

        .text

// Entry: x0 = token.  Exit: x0 = token + 1. Nothing else changes.
        .globl  SYMBOL(switchcost_control_saving_callee)
        IS_FUNCTION(switchcost_control_saving_callee)
        .p2align 6
SYMBOL(switchcost_control_saving_callee):
        .cfi_startproc
        sub     sp, sp, #160
        .cfi_adjust_cfa_offset 160
        stp     d8, d9, [sp]
        stp     d10, d11, [sp, #16]
        stp     d12, d13, [sp, #32]
        stp     d14, d15, [sp, #48]
        stp     x19, x20, [sp, #64]
        stp     x21, x22, [sp, #80]
        stp     x23, x24, [sp, #96]
        stp     x25, x26, [sp, #112]
        stp     x27, x28, [sp, #128]
        stp     x29, x30, [sp, #144]
        add     x0, x0, #1
        ldp     d8, d9, [sp]
        ldp     d10, d11, [sp, #16]
        ldp     d12, d13, [sp, #32]
        ldp     d14, d15, [sp, #48]
        ldp     x19, x20, [sp, #64]
        ldp     x21, x22, [sp, #80]
        ldp     x23, x24, [sp, #96]
        ldp     x25, x26, [sp, #112]
        ldp     x27, x28, [sp, #128]
        ldp     x29, x30, [sp, #144]
        add     sp, sp, #160
        .cfi_adjust_cfa_offset -160
        ret
        .cfi_endproc
        END_OF_FUNCTION(switchcost_control_saving_callee)

        END_OF_FILE
