#include <sys/msg.h>

#define PROCESSES
#include "pair.h"

struct message {
    long type;
    uint64_t token;
};

static int queue;

static void remove_queue(void) { msgctl(queue, IPC_RMID, NULL); }

static void make(void) {
    queue = msgget(IPC_PRIVATE, 0600);
    if (queue == -1) exit(1);
    atexit(remove_queue);
}

static inline void hand_to(int whom, uint64_t token) {
    struct message message = {whom + 1, token};
    if (msgsnd(queue, &message, 8, 0) != 0) exit(1);
}

static inline uint64_t await(int who) {
    struct message message;
    if (msgrcv(queue, &message, 8, who + 1, 0) != 8) exit(1);
    return message.token;
}
