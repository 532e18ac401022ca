#include "kit/tasks/guardian.h"

#include <linux/close_range.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <utility>

#include "kit/os/limits.h"
#include "kit/os/posix.h"

namespace probe {
namespace {

void keep_only(int fd) {
    dup2(fd, 0);
    if (syscall(SYS_close_range, 1u, ~0u, 0u) == 0) return;
    for (int other = 1; other < 65536; ++other) close(other);
}

[[noreturn]] void guard(int own_end, GuardedResource& resource) {
    setpgid(0, 0);
    for (const int signal_number : {SIGTERM, SIGINT, SIGHUP, SIGQUIT}) std::signal(signal_number, SIG_IGN);
    keep_only(own_end);
    umask(077);
    const ResourceId id = resource.make();
    send(0, &id, sizeof id, MSG_NOSIGNAL);  // where nobody receives it, the next line finds that out
    char byte;
    while (read(0, &byte, 1) == -1 && errno == EINTR) {}
    resource.remove();
    _exit(0);
}

ResourceId receive_id(int lifeline) {
    ResourceId id;
    ssize_t got = 0;
    do {
        got = recv(lifeline, &id, sizeof id, MSG_WAITALL);
    } while (got == -1 && errno == EINTR);
    if (got != sizeof id) id.error = EPIPE;
    return id;
}

}  // namespace

ResourceId resource_id(int fd, const std::string& name) {
    ResourceId id;
    struct stat status = {};
    if (fstat(fd, &status) != 0) id.error = errno;
    id.device = status.st_dev;
    id.inode = status.st_ino;
    std::snprintf(id.name, sizeof id.name, "%s", name.c_str());
    return id;
}

bool ResourceId::is(int fd) const {
    struct stat status = {};
    return fstat(fd, &status) == 0 && status.st_dev == device && status.st_ino == inode;
}

int Guardian::start(GuardedResource& resource) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) throw descriptor_limit_failure(0, 1, errno);
    Descriptor guardians_end(ends[0]), own_end(ends[1]);
    const pid_t child = fork();
    if (child == -1) throw task_limit_failure("process", 0, 1, errno);
    if (child == 0) guard(guardians_end.get(), resource);
    setpgid(child, child);  // here and there: whoever comes first
    guardians_end.reset();
    resource_ = &resource;
    lifeline_ = std::move(own_end);
    id_ = child;
    const ResourceId id = receive_id(lifeline());
    const int error = id.error != 0 ? id.error : resource.open(id);
    if (error != 0) finish();
    return error;
}

void Guardian::finish() {
    if (id_ == 0) return;
    lifeline_.reset();
    wait_for(std::exchange(id_, 0));
    resource_->remove();  // nothing to do unless somebody killed the guardian
}

}  // namespace probe
