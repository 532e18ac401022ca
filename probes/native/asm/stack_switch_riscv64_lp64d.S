// Minimal stack switch, RV64GC, psABI lp64d, ELF. C declarations and contract: asm/stack_switch.h.
//
// Operations
//   switchcost_stack_switch   suspend the caller, continue another context
//   switchcost_stack_entry    where a new context begins
//
// Concepts
//   As on x86-64, a suspended context is one number, its stack pointer, and the switch is an ordinary call for both sides. The psABI
//   (RISC-V ELF psABI 1.0, sections 1.1 and 1.2) makes the callee preserve s0 to s11, sp, and, in lp64d, fs0 to fs11, all 64 bits of
//   them. ra is not preserved by the ABI; it is saved because it is where the context goes on. gp and tp belong to the program and
//   to the thread, and no function touches them.
//
// Stack of a suspended context            Stack of a new one (make_initial_frame)
//
//            |  caller's frame   |                 |  nothing          |  <- top, 16-byte aligned
//            +-------------------+                 +-------------------+
//   sp + 200 |  nothing          |        sp + 200 |  0                |
//   sp + 192 |  ra               |        sp + 192 |  stack_entry      |
//   sp + 120 |  s3 to s11        |        sp + 120 |  0                |
//   sp + 112 |  s2               |        sp + 112 |  argument         |
//   sp + 104 |  s1               |        sp + 104 |  entry function   |
//   sp +  96 |  s0               |        sp +  96 |  0                |  end of the chain of frame pointers
//   sp       |  fs0 to fs11      |        sp       |  0                |
//            +-------------------+                 +-------------------+
//
// While a context runs, its stack holds none of this and its slot (*save) is stale. sp is a multiple of 16 at every call, as the psABI
// demands.
//
// Not saved, on purpose: fcsr (contexts of this probe never change the rounding mode; the flags are not preserved by the ABI), the signal
// mask, vector registers (caller-saved, as is all of their state). No shadow stack (Zicfiss): its pointer would have to change as well,
// and no landing pads (Zicfilp): this file carries no note of being fit for either.

#if !defined(__riscv) || __riscv_xlen != 64 || !defined(__riscv_float_abi_double)
#error "this file is for RV64 and lp64d"
#endif

#include "asm/object_format.h"

        .text

// Entry:  a0 = where to save the suspended stack pointer
//         a1 = stack pointer to continue
//         a2 = token
// Exit:   in the continued context; a0 = token, sp = its stack pointer at the time of its call, callee-saved registers its own.
//         t1 and all other caller-saved registers are destroyed.
        .globl  SYMBOL(switchcost_stack_switch)
        HIDDEN(switchcost_stack_switch)
        IS_FUNCTION(switchcost_stack_switch)
        .p2align 6                      // the same place in a fetch block in every build
SYMBOL(switchcost_stack_switch):
        .cfi_startproc
        // Save the callee-saved registers. The order mirrors SuspendedFrame.
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
        .cfi_rel_offset s0, 96
        .cfi_rel_offset s1, 104
        .cfi_rel_offset s2, 112
        .cfi_rel_offset ra, 192

        // Change stacks. The call frame information stays true: the other stack has the same frame at the same place.
        sd      sp, 0(a0)
        mv      sp, a1

        // The token becomes the return value of the other context's call (and a0 at switchcost_stack_entry).
        mv      a0, a2

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
        ld      t1, 192(sp)
        .cfi_restore s0
        .cfi_restore s1
        .cfi_restore s2
        .cfi_register ra, t1
        addi    sp, sp, 208
        .cfi_adjust_cfa_offset -208

        // Leave by a jump and not by `ret`, for the reason given in the x86-64 file: a jump to ra or t0 is predicted from the stack of
        // return addresses, which holds the address of the suspended context's call. One to t1 is an ordinary one.
        jr      t1
        .cfi_endproc
        END_OF_FUNCTION(switchcost_stack_switch)

// Entry:  a0 = token, s1 = entry function, s2 = argument, sp = top of the stack, 16-byte aligned.
// Exit:   none; the entry function never returns.
        .globl  SYMBOL(switchcost_stack_entry)
        HIDDEN(switchcost_stack_entry)
        IS_FUNCTION(switchcost_stack_entry)
        .p2align 4
SYMBOL(switchcost_stack_entry):
        .cfi_startproc
        .cfi_undefined ra               // outermost frame: unwinders stop here
        mv      a1, a0
        mv      a0, s2
        jalr    s1
        unimp                           // a context that returns has nowhere to go
        .cfi_endproc
        END_OF_FUNCTION(switchcost_stack_entry)

        END_OF_FILE
