#include "epoll.h"

static void make(void) {
    for (int who = 0; who < 2; who++) {
        int ends[2];
        if (pipe(ends) != 0) exit(1);
        watch(who, ends[0], ends[1], EPOLLIN);
    }
}
