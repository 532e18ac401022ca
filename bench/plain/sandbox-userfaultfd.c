#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "plain.h"

static volatile uint64_t* common;
static char* page;

static void* handle(void* given) {
    int faults = *(int*)given;
    static char content[4096];
    for (;;) {
        struct uffd_msg news;
        if (read(faults, &news, sizeof news) != sizeof news) _exit(1);
        *(uint64_t*)content = *common + 1;
        struct uffdio_copy copy = {(uintptr_t)page, (uintptr_t)content, 4096, 0, 0};
        while (ioctl(faults, UFFDIO_COPY, &copy) != 0) {
            if (errno != EAGAIN) _exit(1);
        }
    }
}

int main(int argc, char** argv) {
    struct plain_arguments a = plain_start(argc, argv);
    common = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC | 1);  // UFFD_USER_MODE_ONLY
    struct uffdio_api version = {.api = UFFD_API};
    struct uffdio_register mine = {.range = {(uintptr_t)page, 4096}, .mode = UFFDIO_REGISTER_MODE_MISSING};
    if (ioctl(faults, UFFDIO_API, &version) != 0 || ioctl(faults, UFFDIO_REGISTER, &mine) != 0) return 1;
#ifdef THREADS
    pthread_t thread;
    if (pthread_create(&thread, NULL, handle, &faults) != 0) return 1;
#else
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        handle(&faults);
    }
    close(faults);
#endif
    uint64_t token = 1;
    for (int b = 0; b < a.batches; b++) {
        uint64_t begin = plain_now();
        for (uint64_t i = 0; i < a.switches; i += 2) {
            *common = token + 1;
            madvise(page, 4096, MADV_DONTNEED);
            token = *(volatile uint64_t*)page;
        }
        plain_print(plain_now() - begin, a.switches);
    }
#ifndef THREADS
    kill(child, SIGKILL);
#endif
    return token == 1 + (uint64_t)a.batches * (a.switches + a.switches % 2) ? 0 : 1;
}
