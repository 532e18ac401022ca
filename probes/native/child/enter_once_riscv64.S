// enter_once FD: the program that process/fork starts by exec. It adds one to the first word of the file behind descriptor FD and
// exits. Static and without a C library, so that the figure is the kernel's work and not a loader's.

        .text
        .globl  _start
        .type   _start, %function
_start:
        ld      t0, 16(sp)              // argv[1]
        li      a4, 0
        li      t1, 10
1:      lbu     t2, 0(t0)
        addi    t0, t0, 1
        beqz    t2, 2f
        addi    t2, t2, -48
        mul     a4, a4, t1
        add     a4, a4, t2
        j       1b
2:      li      a0, 0                   // mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, FD, 0)
        li      a1, 4096
        li      a2, 3
        li      a3, 1
        li      a5, 0
        li      a7, 222
        ecall
        li      t0, 1
        amoadd.d.aqrl zero, t0, (a0)    // a refused mapping faults here, and the driver sees it
        li      a0, 0                   // exit(0)
        li      a7, 93
        ecall
        .size   _start, . - _start

        .section .note.GNU-stack, "", %progbits
