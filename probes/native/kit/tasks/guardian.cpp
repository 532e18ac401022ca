#include "kit/tasks/guardian.h"

#include <linux/close_range.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "kit/os/limits.h"

namespace probe {
namespace {

void keep_only(int fd) {
    dup2(fd, 0);
    if (syscall(SYS_close_range, 1u, ~0u, 0u) == 0) return;
    for (int other = 1; other < 65536; ++other) close(other);
}

[[noreturn]] void guard(int own_end, Estate& estate) {
    setpgid(0, 0);
    for (const int signal_number : {SIGTERM, SIGINT, SIGHUP, SIGQUIT}) std::signal(signal_number, SIG_IGN);
    keep_only(own_end);
    umask(077);
    const Claim claim = estate.make();
    send(0, &claim, sizeof claim, MSG_NOSIGNAL);  // where nobody hears it, the next line finds that out
    char byte;
    while (read(0, &byte, 1) == -1 && errno == EINTR) {}
    estate.remove();
    _exit(0);
}

Claim hear(int witness) {
    Claim claim;
    ssize_t got = 0;
    do {
        got = recv(witness, &claim, sizeof claim, MSG_WAITALL);
    } while (got == -1 && errno == EINTR);
    if (got != sizeof claim) claim.error = EPIPE;
    return claim;
}

}  // namespace

int Guardian::start(Estate& estate) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) throw descriptor_limit_failure(0, 1, errno);
    const pid_t child = fork();
    if (child == -1) {
        const int error = errno;
        close(ends[0]);
        close(ends[1]);
        throw task_limit_failure("process", 0, 1, error);
    }
    if (child == 0) guard(ends[0], estate);
    setpgid(child, child);  // here and there: whoever comes first
    close(ends[0]);
    estate_ = &estate;
    witness_ = ends[1];
    id_ = child;
    const Claim claim = hear(witness_);
    const int error = claim.error != 0 ? claim.error : estate.take(claim);
    if (error != 0) finish();
    return error;
}

void Guardian::finish() {
    if (id_ == 0) return;
    close(witness_);
    witness_ = -1;
    while (waitpid(id_, nullptr, 0) == -1 && errno == EINTR) {}
    id_ = 0;
    estate_->remove();  // nothing to do unless somebody killed the guardian
}

}  // namespace probe
