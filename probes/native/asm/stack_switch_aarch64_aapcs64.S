// Minimal stack switch, AArch64, AAPCS64, ELF (Linux, BSD) and Mach-O (macOS). C declarations and contract: asm/stack_switch.h.
//
// Operations
//   switchcost_stack_switch   suspend the caller, continue another context
//   switchcost_stack_entry    where a new context begins
//
// Concepts
//   As on x86-64, a suspended context is one number, its stack pointer, and the switch is an ordinary call for both sides. AAPCS64
//   (IHI 0055, sections 6.1.1 and 6.1.2) makes the callee preserve x19 to x28, the frame pointer x29, sp, and the low halves of v8 to
//   v15, that is d8 to d15. The link register x30 is not preserved by the ABI; it is saved because it is where the context goes on.
//
// Stack of a suspended context            Stack of a new one (make_initial_frame)
//
//            |  caller's frame   |                 |  nothing          |  <- top, 16-byte aligned
//            +-------------------+                 +-------------------+
//   sp + 152 |  x30              |        sp + 152 |  stack_entry      |
//   sp + 144 |  x29              |        sp + 144 |  0                |  end of the chain of frame records
//   sp +  80 |  x21 to x28       |        sp +  80 |  0                |
//   sp +  72 |  x20              |        sp +  72 |  argument         |
//   sp +  64 |  x19              |        sp +  64 |  entry function   |
//   sp       |  d8 to d15        |        sp       |  0                |
//            +-------------------+                 +-------------------+
//
// While a context runs, its stack holds none of this and its slot (*save) is stale. sp is a multiple of 16 wherever it is used to reach
// memory, or the CPU faults.
//
// Not saved, on purpose: FPCR and FPSR (contexts of this probe never change the control bits; FPSR is not preserved by the ABI), the
// signal mask, x18 (a temporary register where, as on Linux, the platform has no use for it; macOS keeps it for itself), all other vector registers (caller-saved). No SVE or SME state:
// the streaming mode and ZA must be off, as they are at every call of an ordinary function.
//
// Pointer authentication and branch target identification: the saved x30 is not signed, and the jump goes to where a call returns, which is
// no landing pad. Therefore this file carries no note of being fit for BTI, and the linker guards no program that contains it.

#if !defined(__aarch64__)
#error "this file is for AArch64"
#endif

#include "asm/object_format.h"

        .text

// Entry:  x0 = where to save the suspended stack pointer
//         x1 = stack pointer to continue
//         x2 = token
// Exit:   in the continued context; x0 = token, sp = its stack pointer at the time of its call, callee-saved registers its own.
//         x9 and all other caller-saved registers are destroyed.
        .globl  SYMBOL(switchcost_stack_switch)
        HIDDEN(switchcost_stack_switch)
        IS_FUNCTION(switchcost_stack_switch)
        .p2align 6                      // the same place in a fetch block in every build
SYMBOL(switchcost_stack_switch):
        .cfi_startproc
        // Save the callee-saved registers. The order mirrors SuspendedFrame.
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
        .cfi_rel_offset x19, 64
        .cfi_rel_offset x20, 72
        .cfi_rel_offset x29, 144
        .cfi_rel_offset x30, 152

        // Change stacks. The call frame information stays true: the other stack has the same frame at the same place.
        mov     x9, sp
        str     x9, [x0]
        mov     sp, x1

        // The token becomes the return value of the other context's call (and x0 at switchcost_stack_entry).
        mov     x0, x2

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
        .cfi_restore x19
        .cfi_restore x20
        .cfi_restore x29
        .cfi_restore x30
        add     sp, sp, #160
        .cfi_adjust_cfa_offset -160

        // Leave by a jump and not by `ret`, for the reason given in the x86-64 file: `ret` is predicted from the stack of return
        // addresses, which holds the address of the suspended context's call.
        br      x30
        .cfi_endproc
        END_OF_FUNCTION(switchcost_stack_switch)

// Entry:  x0 = token, x19 = entry function, x20 = argument, sp = top of the stack, 16-byte aligned.
// Exit:   none; the entry function never returns.
        .globl  SYMBOL(switchcost_stack_entry)
        HIDDEN(switchcost_stack_entry)
        IS_FUNCTION(switchcost_stack_entry)
        .p2align 4
SYMBOL(switchcost_stack_entry):
        .cfi_startproc
        .cfi_undefined x30              // outermost frame: unwinders stop here
        mov     x1, x0
        mov     x0, x20
        blr     x19
        udf     #0                      // a context that returns has nowhere to go
        .cfi_endproc
        END_OF_FUNCTION(switchcost_stack_entry)

        END_OF_FILE
