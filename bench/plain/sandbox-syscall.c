#include "plain.h"
#include "wall.h"

int main(int argc, char** argv) {
    struct plain_arguments a = plain_start(argc, argv);
    build_wall();
    for (int b = 0; b < a.batches; b++) {
        uint64_t begin = plain_now();
        for (uint64_t i = 0; i < a.switches; i++) syscall(SYS_getppid);
        plain_print(plain_now() - begin, a.switches);
    }
}
