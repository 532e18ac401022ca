// The registers that stack_switch saves and loads, without its change of stacks, RV64, psABI lp64d. Declaration:
// asm/control_saved_registers.h.

#include "asm/object_format.h"

        .text

// Entry: a0 = token.  Exit: a0 = token + 1. Nothing else changes.
        .globl  SYMBOL(switchcost_control_saving_callee)
        IS_FUNCTION(switchcost_control_saving_callee)
        .p2align 6
SYMBOL(switchcost_control_saving_callee):
        .cfi_startproc
        addi    sp, sp, -208
        .cfi_adjust_cfa_offset 208
        fsd     fs0, 0(sp)
        fsd     fs1, 8(sp)
        fsd     fs2, 16(sp)
        fsd     fs3, 24(sp)
        fsd     fs4, 32(sp)
        fsd     fs5, 40(sp)
        fsd     fs6, 48(sp)
        fsd     fs7, 56(sp)
        fsd     fs8, 64(sp)
        fsd     fs9, 72(sp)
        fsd     fs10, 80(sp)
        fsd     fs11, 88(sp)
        sd      s0, 96(sp)
        sd      s1, 104(sp)
        sd      s2, 112(sp)
        sd      s3, 120(sp)
        sd      s4, 128(sp)
        sd      s5, 136(sp)
        sd      s6, 144(sp)
        sd      s7, 152(sp)
        sd      s8, 160(sp)
        sd      s9, 168(sp)
        sd      s10, 176(sp)
        sd      s11, 184(sp)
        sd      ra, 192(sp)
        addi    a0, a0, 1
        fld     fs0, 0(sp)
        fld     fs1, 8(sp)
        fld     fs2, 16(sp)
        fld     fs3, 24(sp)
        fld     fs4, 32(sp)
        fld     fs5, 40(sp)
        fld     fs6, 48(sp)
        fld     fs7, 56(sp)
        fld     fs8, 64(sp)
        fld     fs9, 72(sp)
        fld     fs10, 80(sp)
        fld     fs11, 88(sp)
        ld      s0, 96(sp)
        ld      s1, 104(sp)
        ld      s2, 112(sp)
        ld      s3, 120(sp)
        ld      s4, 128(sp)
        ld      s5, 136(sp)
        ld      s6, 144(sp)
        ld      s7, 152(sp)
        ld      s8, 160(sp)
        ld      s9, 168(sp)
        ld      s10, 176(sp)
        ld      s11, 184(sp)
        ld      ra, 192(sp)
        addi    sp, sp, 208
        .cfi_adjust_cfa_offset -208
        ret
        .cfi_endproc
        END_OF_FUNCTION(switchcost_control_saving_callee)

        END_OF_FILE
