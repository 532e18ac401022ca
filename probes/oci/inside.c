// The first process of a container. Alone: waits until nobody in the probe is left, which is the end of the file on
// descriptor 3. With an argument: counts itself in the eventfd on descriptor 3 and ends; number 1 of a pid namespace of
// its own, or it is not a container.
#include <stdint.h>
#include <unistd.h>

int main(int argument_count, char** arguments) {
    (void)arguments;
    if (argument_count > 1) {
        const uint64_t one = 1;
        return getpid() == 1 && write(3, &one, sizeof one) == sizeof one ? 0 : 1;
    }
    char byte;
    while (read(3, &byte, 1) > 0) {}
    return 0;
}
