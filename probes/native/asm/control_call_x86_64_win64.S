// The smallest function that proves its calls, x86-64, Windows' calling convention. Declaration: asm/control_call.h.

        .intel_syntax noprefix
        .text

// Entry: rcx = token.  Exit: rax = token + 1. Nothing else changes.
        .globl  switchcost_control_callee
        .def    switchcost_control_callee; .scl 2; .type 32; .endef
        .p2align 6
switchcost_control_callee:
        lea     rax, [rcx + 1]
        ret
