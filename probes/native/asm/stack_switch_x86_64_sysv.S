// Minimal stack switch, x86-64, System V ABI, ELF (Linux, BSD) and Mach-O (macOS). C declarations and contract: asm/stack_switch.h.
//
// Operations
//   switchcost_stack_switch   suspend the caller, continue another context
//   switchcost_stack_entry    where a new context begins
//
// Concepts
//   A suspended context is one number, its stack pointer. Everything else lies on its stack. The switch is an ordinary call for
//   both sides, so that the compiler has already saved what the ABI lets a call destroy; only the six callee-saved registers
//   are left to do.
//
// Stack of a suspended context            Stack of a new one (make_initial_frame)
//
//            |  caller's frame   |                 |  nothing          |  <- top, 16-byte aligned
//            +-------------------+                 +-------------------+
//   sp + 48  |  return address   |        sp + 48  |  stack_entry      |
//   sp + 40  |  rbp              |        sp + 40  |  0                |  end of the chain of frame pointers
//   sp + 32  |  rbx              |        sp + 32  |  0                |
//   sp + 24  |  r12              |        sp + 24  |  argument         |
//   sp + 16  |  r13              |        sp + 16  |  entry function   |
//   sp +  8  |  r14              |        sp +  8  |  0                |
//   sp       |  r15              |        sp       |  0                |
//            +-------------------+                 +-------------------+
//
// While a context runs, its stack holds none of this and its slot (*save) is stale.
//
// Not saved, on purpose: MXCSR and the x87 control word (the ABI calls their control bits callee-saved; contexts of this probe
// never change them), the signal mask, the shadow stack of CET, vector and x87 registers (caller-saved). That is why this switch is
// the floor, and why it does not care whether MXCSR differs between two contexts.

#if !defined(__x86_64__)
#error "this file is for x86-64"
#endif

#include "asm/object_format.h"

        .intel_syntax noprefix
        .text

// Entry:  rdi = where to save the suspended stack pointer
//         rsi = stack pointer to continue
//         rdx = token
// Exit:   in the continued context; rax = token, rsp = its stack pointer at the time of its call, callee-saved registers its own.
//         rcx and all other caller-saved registers are destroyed.
        .globl  SYMBOL(switchcost_stack_switch)
        IS_FUNCTION(switchcost_stack_switch)
        .p2align 6                      // one fetch block, and the same one in every build
SYMBOL(switchcost_stack_switch):
        .cfi_startproc
        // Save the callee-saved registers. The order mirrors SuspendedFrame.
        push    rbp
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset rbp, 0
        push    rbx
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset rbx, 0
        push    r12
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset r12, 0
        push    r13
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset r13, 0
        push    r14
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset r14, 0
        push    r15
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset r15, 0

        // Change stacks. The call frame information stays true: the other stack has the same frame at the same place.
        mov     [rdi], rsp
        mov     rsp, rsi

        // The token becomes the return value of the other context's call (and rax at switchcost_stack_entry).
        mov     rax, rdx

        pop     r15
        .cfi_adjust_cfa_offset -8
        .cfi_restore r15
        pop     r14
        .cfi_adjust_cfa_offset -8
        .cfi_restore r14
        pop     r13
        .cfi_adjust_cfa_offset -8
        .cfi_restore r13
        pop     r12
        .cfi_adjust_cfa_offset -8
        .cfi_restore r12
        pop     rbx
        .cfi_adjust_cfa_offset -8
        .cfi_restore rbx
        pop     rbp
        .cfi_adjust_cfa_offset -8
        .cfi_restore rbp

        // Leave by an indirect jump. `ret` would be predicted from the stack of return addresses, which holds the address of the
        // *suspended* context's call: wrong at every switch, 11.5 ns instead of 2.2 ns here. The predictor of indirect jumps learns
        // the pattern of the ring instead.
        pop     rcx
        .cfi_adjust_cfa_offset -8
        .cfi_register rip, rcx
        jmp     rcx
        .cfi_endproc
        END_OF_FUNCTION(switchcost_stack_switch)

// Entry:  rax = token, r12 = argument, r13 = entry function, rsp = top of the stack, 16-byte aligned.
// Exit:   none; the entry function never returns.
        .globl  SYMBOL(switchcost_stack_entry)
        IS_FUNCTION(switchcost_stack_entry)
        .p2align 4
SYMBOL(switchcost_stack_entry):
        .cfi_startproc
        .cfi_undefined rip              // outermost frame: unwinders stop here
        mov     rdi, r12
        mov     rsi, rax
        call    r13
        ud2                             // a context that returns has nowhere to go
        .cfi_endproc
        END_OF_FUNCTION(switchcost_stack_entry)

        END_OF_FILE
