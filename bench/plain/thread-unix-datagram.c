#include <sys/socket.h>

#include "pair.h"

static int ends[2];

static void make(void) {
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) != 0) exit(1);
}

static inline void hand_to(int whom, uint64_t token) {
    if (write(ends[1 - whom], &token, 8) != 8) exit(1);
}

static inline uint64_t await(int who) {
    uint64_t token;
    if (read(ends[who], &token, 8) != 8) exit(1);
    return token;
}
