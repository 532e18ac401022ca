// Switches between stacks: saves what the ABI asks a function to keep, and the stack pointer.
#pragma once
#include <cstdint>

extern "C" {
// Keeps the running context in *own and continues `next`, which gets the value.
std::uint64_t tiny_switch(void** own, void* next, std::uint64_t value);
void tiny_begin();
}

asm(R"(
.pushsection .text
tiny_switch:
    push %rbp; push %rbx; push %r12; push %r13; push %r14; push %r15
    mov %rsp, (%rdi)
    mov %rsi, %rsp
    pop %r15; pop %r14; pop %r13; pop %r12; pop %rbx; pop %rbp
    mov %rdx, %rax
    ret
tiny_begin:
    mov %r12, %rdi
    mov %rax, %rsi
    call *%r13
    ud2
.popsection
)");

// A context at the top of this stack that begins in begin(argument, value).
inline void* tiny_make(char* top, void (*begin)(void*, std::uint64_t), void* argument) {
    void** frame = reinterpret_cast<void**>(top) - 9;  // r15 r14 r13 r12 rbx rbp, and where to return
    frame[2] = reinterpret_cast<void*>(begin);
    frame[3] = argument;
    frame[6] = reinterpret_cast<void*>(&tiny_begin);
    return frame;
}
