#include <sys/eventfd.h>

#include "epoll.h"

static void make(void) {
    for (int who = 0; who < 2; who++) {
        int counter = eventfd(0, 0);
        watch(who, counter, counter, EPOLLIN);
    }
}
