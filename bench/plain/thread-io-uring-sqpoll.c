// Both threads on the CPU of the argument; the kernel's thread that polls both rings on another one.
#define POLLED
#include "uring.h"

static void make(void) {
    for (int who = 0; who < 2; who++) make_ring(&rings[who]);
}

static inline void hand_to(int whom, uint64_t token) {
    struct io_uring_sqe* entry = prepare(&rings[1 - whom], IORING_OP_MSG_RING);
    entry->fd = rings[whom].fd;
    entry->off = token;
    entry->flags = IOSQE_CQE_SKIP_SUCCESS;
}

static inline uint64_t await(int who) {
    uint64_t token = wait_while_polled(&rings[who])->user_data;
    take(&rings[who]);
    return token;
}
