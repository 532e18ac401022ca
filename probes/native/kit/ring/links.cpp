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
Descriptor close_on_exec(int fd) {
    if (fd != -1) fcntl(fd, F_SETFD, FD_CLOEXEC);
    return Descriptor(fd);
}

std::optional<LinkEnds> pair_of(int result, const int (&ends)[2]) {
    if (result != 0) return std::nullopt;
    return LinkEnds{close_on_exec(ends[0]), close_on_exec(ends[1])};
}

bool set_no_delay(const Descriptor& socket) {
    const int on = 1;
    return setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0;
}

sockaddr* generic(sockaddr_in& address) { return reinterpret_cast<sockaddr*>(&address); }

bool name_of(const Descriptor& socket, sockaddr_in& address) {
    socklen_t length = sizeof address;
    return getsockname(socket.get(), generic(address), &length) == 0;
}

}  // namespace

std::optional<LinkEnds> PipeLink::open() {
    int ends[2];
    return pair_of(pipe(ends), ends);
}

std::optional<LinkEnds> UnixLink::open() {
    int ends[2];
    return pair_of(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), ends);
}

std::optional<LinkEnds> UnixDatagramLink::open() {
    int ends[2];
    return pair_of(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends), ends);
}

std::optional<LinkEnds> TcpLink::open() {
    sockaddr_in address{};  // a port of the kernel's choice
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const Descriptor listener = close_on_exec(socket(AF_INET, SOCK_STREAM, 0));
    if (!listener.is_open() || bind(listener.get(), generic(address), sizeof address) != 0 ||
        listen(listener.get(), 1) != 0 || !name_of(listener, address))
        return std::nullopt;
    LinkEnds ends;
    ends.write = close_on_exec(socket(AF_INET, SOCK_STREAM, 0));
    sockaddr_in connected{};
    if (!ends.write.is_open() || connect(ends.write.get(), generic(address), sizeof address) != 0 ||
        !name_of(ends.write, connected))
        return std::nullopt;
    // Another process may have been quicker to connect to the port; only our own connection is taken.
    sockaddr_in peer{};
    do {
        socklen_t length = sizeof peer;
        ends.read = close_on_exec(accept(listener.get(), generic(peer), &length));
        if (!ends.read.is_open()) return std::nullopt;
    } while (peer.sin_port != connected.sin_port || peer.sin_addr.s_addr != connected.sin_addr.s_addr);
    if (!set_no_delay(ends.read) || !set_no_delay(ends.write)) return std::nullopt;
    return ends;
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
