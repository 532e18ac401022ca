// Media that epoll waits for: descriptors that can be read and written, registered once, level-triggered.
#pragma once
#include <fcntl.h>
#include <sys/epoll.h>

#include "pair.h"

static int epolls[2], read_ends[2], write_ends[2];

static void watch(int who, int read_end, int write_end, uint32_t events) {
    struct epoll_event event = {.events = events};
    read_ends[who] = read_end;
    write_ends[who] = write_end;
    fcntl(read_end, F_SETFL, O_NONBLOCK);
    epolls[who] = epoll_create1(0);
    if (epoll_ctl(epolls[who], EPOLL_CTL_ADD, read_end, &event) != 0) exit(1);
}

static inline void wait_for_news(int who) {
    struct epoll_event event;
    if (epoll_wait(epolls[who], &event, 1, -1) != 1) exit(1);
}

#ifndef EDGE
static inline void hand_to(int whom, uint64_t token) {
    if (write(write_ends[whom], &token, 8) != 8) exit(1);
}

static inline uint64_t await(int who) {
    uint64_t token;
    wait_for_news(who);
    if (read(read_ends[who], &token, 8) != 8) exit(1);
    return token;
}
#endif
