#include <sys/socket.h>

#include "epoll.h"

static void make(void) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) exit(1);
    watch(0, ends[0], ends[1], EPOLLIN);
    watch(1, ends[1], ends[0], EPOLLIN);
}
