// What the guests of vm/* execute: 64-bit mode, ring 0 or 3, no interrupts, no stack unless said. Included by guest.rs.
//
// Everything between switchcost_guest_begin and switchcost_guest_end is copied to the address CODE of a guest's memory, so it
// refers to nothing outside and to itself only by relative jumps. Nothing but the last part is ever executed by the probe itself.
//
// Operations
//   switchcost_guest_pio, _hlt, _mmio, _vmcall, _vmmcall   leave for the host again and again, each by its own instruction
//   switchcost_guest_token       advance the token in memory, leave for the host, again and again
//   switchcost_guest_calibrate   leave, run a loop of rsi turns, leave: how quick is this guest?
//   switchcost_guest_spin        never leave (for the test of the watchdog)
//   switchcost_guest_batch       run the ring of stacks rounds at a time, leave after each batch
//   switchcost_guest_ring        one batch of the ring of stacks: an ordinary function, called by the guest and by the probe
//   switchcost_guest_switch      stack switch, byte for byte that of stack/asm
//
// Contract of the loops that leave
//   Entry:  rcx = how often at most (2^40), rdx = I/O port, rbx = address of the token or of a page, rdi = address without memory
//   The host counts turns by rcx: `loop` counts it down, and costs no instruction of its own, because the loop needs a jump
//   anyway. That matters where a hypervisor emulates the guest instruction by instruction (300 ns each).

        .pushsection .text.switchcost_guest, "ax", @progbits
        .p2align 6
        .globl  switchcost_guest_begin
        .globl  switchcost_guest_pio, switchcost_guest_hlt, switchcost_guest_mmio, switchcost_guest_vmcall
        .globl  switchcost_guest_vmmcall, switchcost_guest_token, switchcost_guest_calibrate, switchcost_guest_spin
        .globl  switchcost_guest_batch, switchcost_guest_ring, switchcost_guest_member, switchcost_guest_end
switchcost_guest_begin:

// KVM hands port output to the process that runs the guest: it has no device there.
switchcost_guest_pio:
        out     dx, al
        loop    switchcost_guest_pio
        ud2                             // no exception table: the guest shuts down, which the host sees

// Without an interrupt controller in the kernel KVM hands HLT over, too. Ring 0 only.
switchcost_guest_hlt:
        hlt
        loop    switchcost_guest_hlt
        ud2

// A guest-physical address that no memory slot covers.
switchcost_guest_mmio:
        mov     [rdi], al
        loop    switchcost_guest_mmio
        ud2

// KVM answers hypercalls itself, but hands over KVM_HC_MAP_GPA_RANGE if asked to: rax = 12, rbx = page address, rcx = number of
// pages (the count-down; the host ignores it), rdx = attributes. The host's answer goes to rax; it answers 12, so that rax
// is right for the next turn. Ring 0 only.
switchcost_guest_vmcall:
        vmcall
        loop    switchcost_guest_vmcall
        ud2

// The same for AMD.
switchcost_guest_vmmcall:
        vmmcall
        loop    switchcost_guest_vmmcall
        ud2

// One turn: the token, which the host has put into this guest's memory, advances here and nowhere else.
switchcost_guest_token:
        inc     qword ptr [rbx]
        out     dx, al
        loop    switchcost_guest_token
        ud2

// Between two exits rsi turns of two instructions.
switchcost_guest_calibrate:
        mov     rcx, rsi
        out     dx, al
2:
        dec     rcx
        jnz     2b
        jmp     switchcost_guest_calibrate

switchcost_guest_spin:
        jmp     switchcost_guest_spin

// Entry:  r14 = struct Batch in guest memory, rsp = a stack, rdx = unused
// The clock is read here, on this side of the exit, as every mechanism's context 0 reads it: an exit costs as much as thousands
// of switches. No LFENCE: what RDTSC may run ahead by is nothing beside a batch, and emulators know the instruction only half.
        .p2align 4
switchcost_guest_batch:
        rdtsc
        shl     rdx, 32
        or      rax, rdx
        mov     [r14 + 24], rax         // Batch.begin
        mov     rdi, [r14]              // Batch.record
        mov     rsi, [r14 + 8]          // Batch.laps
        mov     rdx, [r14 + 16]         // Batch.token
        call    switchcost_guest_ring
        mov     [r14 + 16], rax
        rdtsc
        shl     rdx, 32
        or      rax, rdx
        mov     [r14 + 32], rax         // Batch.end
        mov     dx, 0x10
        out     dx, al
        jmp     switchcost_guest_batch

// Context 0 of the ring. A System V function; clobbers what such a function may.
// Entry:  rdi = struct Record of context 0, rsi = laps (at least 1), rdx = token
// Exit:   rax = token
// Within: rbx = own record, rbp = next record, r12 = laps left, r13 = length of the ring
        .p2align 6
switchcost_guest_ring:
        push    rbp
        push    rbx
        push    r12
        push    r13
        push    r14
        push    r15
        mov     rbx, rdi
        mov     rbp, [rdi + 16]         // Record.next
        mov     r13, [rdi + 24]         // Record.lap
        mov     r12, rsi
        mov     rax, rdx
        .p2align 4
3:
        mov     rdx, rax
        mov     rdi, rbx
        mov     rsi, [rbp]
        call    switchcost_guest_switch
        cmp     rax, [rbx + 8]          // Record.due
        jne     5f
4:
        add     [rbx + 8], r13          // one turn, counted as what is due next
        inc     rax
        dec     r12
        jnz     3b
        pop     r15
        pop     r14
        pop     r13
        pop     r12
        pop     rbx
        pop     rbp
        ret
5:
        mov     qword ptr [rbx + 32], 1 // Record.broken
        jmp     4b

// Contexts 1 ... N - 1, for ever.
// Entry (from the first switch to it): rax = token, rbx, rbp, r13 as above, from the frame that Rust made
        .p2align 4
switchcost_guest_member:
        cmp     rax, [rbx + 8]
        jne     7f
6:
        add     [rbx + 8], r13
        lea     rdx, [rax + 1]
        mov     rdi, rbx
        mov     rsi, [rbp]
        call    switchcost_guest_switch
        jmp     switchcost_guest_member
7:
        mov     qword ptr [rbx + 32], 1
        jmp     6b

// Entry:  rdi = where to save the suspended stack pointer, rsi = stack pointer to continue, rdx = token
// Exit:   in the continued context; rax = token
// Why it is as it is: probes/native/asm/stack_switch_x86_64_sysv.S.
        .p2align 6
switchcost_guest_switch:
        push    rbp
        push    rbx
        push    r12
        push    r13
        push    r14
        push    r15
        mov     [rdi], rsp
        mov     rsp, rsi
        mov     rax, rdx
        pop     r15
        pop     r14
        pop     r13
        pop     r12
        pop     rbx
        pop     rbp
        pop     rcx                     // an indirect jump, because `ret` would be predicted wrongly every time
        jmp     rcx

switchcost_guest_end:
        .popsection
