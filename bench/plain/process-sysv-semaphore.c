#include <sys/mman.h>
#include <sys/sem.h>

#define PROCESSES
#include "pair.h"

static int set;
static struct word {
    _Alignas(64) uint64_t token;
}* words;

static void remove_set(void) { semctl(set, 0, IPC_RMID); }

static void make(void) {
    words = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    set = semget(IPC_PRIVATE, 2, 0600);
    if (set == -1) exit(1);
    atexit(remove_set);
}

static inline void add(int who, short number) {
    struct sembuf step = {(unsigned short)who, number, 0};
    if (semop(set, &step, 1) != 0) exit(1);
}

static inline void hand_to(int whom, uint64_t token) {
    words[whom].token = token;
    add(whom, 1);
}

static inline uint64_t await(int who) {
    add(who, -1);
    return words[who].token;
}
