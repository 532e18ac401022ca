// One-way links between contexts, made of descriptors that read() and write() work on. A Link says how a pair of them
// is made:
//
//   static constexpr bool duplex;                  both ends read and write
//   static bool open(int (&ends)[2]);              false: errno says why
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <vector>

#include "kit/os/limits.h"
#include "kit/ring/pipe_io.h"

namespace probe {

struct PipeLink {
    static constexpr bool duplex = false;
    static bool open(int (&ends)[2]);
};

struct UnixLink {
    static constexpr bool duplex = true;
    static bool open(int (&ends)[2]);
};

// A connection through the loopback interface, with TCP_NODELAY at both ends.
struct TcpLink {
    static constexpr bool duplex = true;
    static bool open(int (&ends)[2]);
};

// Why a link could not be made: descriptors or the network.
Failure link_failure(std::uint32_t made, std::uint32_t wanted, int error);

struct LinkEnds {
    int read = -1;
    int write = -1;
};

inline void close_once(int& fd) {
    if (fd != -1) close(fd);
    fd = -1;
}

// The way to context `index` of `wanted`. Throws Failure.
template <class Link>
LinkEnds open_link(std::uint32_t index, std::uint32_t wanted) {
    int ends[2];
    if (!Link::open(ends)) throw link_failure(index, wanted, errno);
    return {ends[0], ends[1]};
}

// The ways to contexts 0 and 1 of a ring of two: one connection used in both directions where the medium allows it, as
// any two programs would.
template <class Link>
void open_both_ways(LinkEnds& to_first, LinkEnds& to_second) {
    to_first = open_link<Link>(0, 2);
    if constexpr (Link::duplex) {
        to_second = {to_first.write, fcntl(to_first.read, F_DUPFD_CLOEXEC, 0)};
        to_first.write = fcntl(to_second.read, F_DUPFD_CLOEXEC, 0);
    } else {
        to_second.read = -1;
        int ends[2];
        if (Link::open(ends)) to_second = {ends[0], ends[1]};
    }
    if (to_first.write != -1 && to_second.write != -1) return;
    const int error = errno;
    for (int* fd : {&to_first.read, &to_first.write, &to_second.read, &to_second.write}) close_once(*fd);
    throw link_failure(1, 2, error);
}

// The ways to N contexts, closed in the destructor.
class Links {
public:
    Links() = default;
    Links(const Links&) = delete;
    Links& operator=(const Links&) = delete;
    ~Links() {
        for (LinkEnds& ends : ends_) {
            close_once(ends.read);
            close_once(ends.write);
        }
    }

    template <class Link>
    void open(std::uint32_t count) {
        ends_.reserve(count);
        if (count == 2) {
            ends_.resize(2);
            open_both_ways<Link>(ends_[0], ends_[1]);
            return;
        }
        for (std::uint32_t i = 0; i < count; ++i) ends_.push_back(open_link<Link>(i, count));
    }

    LinkEnds& to(std::uint32_t context) { return ends_[context]; }
    std::uint32_t count() const { return static_cast<std::uint32_t>(ends_.size()); }

private:
    std::vector<LinkEnds> ends_;
};

// Medium of a ThreadRing: every context writes into the next one's link and blocks in a read of its own.
template <class Link>
class LinkMedium {
public:
    using Token = std::uint64_t;

    struct Port {
        int own;
        int next;
        // A link inside one process cannot lose its other end; were it to, the token would be wrong and be counted as a
        // mismatch.
        [[gnu::always_inline]] void send(Token token) const { write_whole(next, &token, sizeof token); }
        [[gnu::always_inline]] Token receive() const {
            Token token = 0;
            read_whole(own, &token, sizeof token);
            return token;
        }
    };

    explicit LinkMedium(std::uint32_t contexts) { links_.open<Link>(contexts); }
    Port port(std::uint32_t context) {
        return {links_.to(context).read, links_.to(context + 1 == links_.count() ? 0 : context + 1).write};
    }

private:
    Links links_;
};

}  // namespace probe
