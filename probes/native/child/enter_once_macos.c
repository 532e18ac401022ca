// enter_once FD: the program that process/fork starts by exec. It adds one to the first word of the file behind
// descriptor FD and exits. macOS promises no system calls but those of its C library and links no static programs: a
// loader's work is part of every program's start there, and of the figure.
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int count, char** arguments) {
    if (count != 2) return 2;
    _Atomic(uint64_t)* const word = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, atoi(arguments[1]), 0);
    if (word == MAP_FAILED) return 1;
    atomic_fetch_add(word, 1);
    _exit(0);
}
