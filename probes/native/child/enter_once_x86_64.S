// enter_once FD: the program that process/fork starts by exec. It adds one to the first word of the file behind descriptor FD and
// exits. Static and without a C library, so that the figure is the kernel's work and not a loader's.

        .text
        .globl  _start
        .type   _start, @function
_start:
        mov     16(%rsp), %rsi          // argv[1]
        xor     %edi, %edi
1:      movzbl  (%rsi), %eax
        test    %eax, %eax
        jz      2f
        imul    $10, %edi, %edi
        lea     -48(%rdi,%rax), %edi
        inc     %rsi
        jmp     1b
2:      mov     %edi, %r8d              // mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, FD, 0)
        xor     %edi, %edi
        mov     $4096, %esi
        mov     $3, %edx
        mov     $1, %r10d
        xor     %r9d, %r9d
        mov     $9, %eax
        syscall
        lock incq (%rax)                // a refused mapping faults here, and the driver sees it
        xor     %edi, %edi
        mov     $60, %eax               // exit(0)
        syscall
        .size   _start, . - _start

        .section .note.GNU-stack, "", @progbits
