#include "kit/ring/links.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cstring>
#include <string>

namespace probe {
namespace {

// pipe2, accept4 and SOCK_CLOEXEC are not everywhere. Nothing is executed while a link is made, so that a second call
// will do.
int close_on_exec(int fd) {
    if (fd != -1) fcntl(fd, F_SETFD, FD_CLOEXEC);
    return fd;
}

bool close_both_on_exec(int (&ends)[2]) {
    for (const int fd : ends) close_on_exec(fd);
    return true;
}

bool set_no_delay(int fd) {
    const int on = 1;
    return setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0;
}

// `ends` are made by connecting to `listener`, which is bound to a port of the kernel's choice.
bool connect_through(int listener, int (&ends)[2]) {
    sockaddr_in address{};
    socklen_t length = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listener, generic, sizeof address) != 0 || listen(listener, 1) != 0) return false;
    if (getsockname(listener, generic, &length) != 0) return false;
    ends[1] = close_on_exec(socket(AF_INET, SOCK_STREAM, 0));
    if (ends[1] == -1 || connect(ends[1], generic, sizeof address) != 0) return false;
    sockaddr_in connected{};
    length = sizeof connected;
    if (getsockname(ends[1], reinterpret_cast<sockaddr*>(&connected), &length) != 0) return false;
    // A stranger may have been quicker to connect to the port; only our own connection is taken.
    for (;;) {
        sockaddr_in peer{};
        length = sizeof peer;
        ends[0] = close_on_exec(accept(listener, reinterpret_cast<sockaddr*>(&peer), &length));
        if (ends[0] == -1) return false;
        if (peer.sin_port == connected.sin_port && peer.sin_addr.s_addr == connected.sin_addr.s_addr) break;
        close_once(ends[0]);
    }
    return set_no_delay(ends[0]) && set_no_delay(ends[1]);
}

}  // namespace

bool PipeLink::open(int (&ends)[2]) { return pipe(ends) == 0 && close_both_on_exec(ends); }

bool UnixLink::open(int (&ends)[2]) {
    return socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0 && close_both_on_exec(ends);
}

bool TcpLink::open(int (&ends)[2]) {
    ends[0] = ends[1] = -1;
    int listener = close_on_exec(socket(AF_INET, SOCK_STREAM, 0));
    const bool made = listener != -1 && connect_through(listener, ends);
    const int error = errno;
    close_once(listener);
    if (!made) {
        close_once(ends[0]);
        close_once(ends[1]);
    }
    errno = error;
    return made;
}

Failure link_failure(std::uint32_t made, std::uint32_t wanted, int error) {
    if (is_descriptor_limit(error) || error == ENOMEM || error == ENOBUFS)
        return descriptor_limit_failure(made, wanted, error);
    const char* const code = error == EPERM || error == EACCES ? "no_permission" : "unsupported_here";
    return unsupported(code,
                       "the link to context " + std::to_string(made) + " of " + std::to_string(wanted) +
                           " could not be made (" + std::strerror(error) +
                           "); see whether this kind of socket works here and the loopback interface is up",
                       error);
}

}  // namespace probe
