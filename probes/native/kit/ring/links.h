// One-way links between contexts, made of descriptors that read() and write() work on. A Link says how a pair of them
// is made:
//
//   static constexpr bool duplex;                  both ends read and write
//   static std::optional<LinkEnds> open();         nullopt: errno says why
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "kit/os/descriptor.h"
#include "kit/os/limits.h"
#include "kit/ring/pipe_io.h"
#include "kit/ring/shared.h"

namespace probe {

struct LinkEnds {
    Descriptor read;
    Descriptor write;
};

struct PipeLink {
    static constexpr bool duplex = false;
    static std::optional<LinkEnds> open();
};

struct UnixLink {
    static constexpr bool duplex = true;
    static std::optional<LinkEnds> open();
};

struct UnixDatagramLink {
    static constexpr bool duplex = true;
    static std::optional<LinkEnds> open();
};

// A connection through the loopback interface, with TCP_NODELAY at both ends.
struct TcpLink {
    static constexpr bool duplex = true;
    static std::optional<LinkEnds> open();
};

// Why a link could not be made: descriptors or the network.
Failure link_failure(std::uint32_t made, std::uint32_t wanted, int error);

// The way to context `index` of `wanted`. Throws Failure.
template <class Link>
LinkEnds open_link(std::uint32_t index, std::uint32_t wanted) {
    std::optional<LinkEnds> ends = Link::open();
    if (!ends) throw link_failure(index, wanted, errno);
    return std::move(*ends);
}

// The ways to contexts 0 and 1 of a ring of two: one connection used in both directions where the medium allows it, as
// any two programs would.
template <class Link>
std::array<LinkEnds, 2> open_both_ways() {
    const auto copy = [](const Descriptor& end) { return Descriptor(fcntl(end.get(), F_DUPFD_CLOEXEC, 0)); };
    std::array<LinkEnds, 2> to;
    to[0] = open_link<Link>(0, 2);
    if constexpr (Link::duplex) {
        to[1] = {std::move(to[0].write), copy(to[0].read)};
        to[0].write = copy(to[1].read);
        if (!to[0].write.is_open() || !to[1].write.is_open()) throw link_failure(1, 2, errno);
    } else {
        to[1] = open_link<Link>(1, 2);
    }
    return to;
}

// The ways to all contexts of a ring.
template <class Link>
std::vector<LinkEnds> open_ring(std::uint32_t contexts) {
    std::vector<LinkEnds> to;
    to.reserve(contexts);
    if (contexts == 2) {
        for (LinkEnds& ends : open_both_ways<Link>()) to.push_back(std::move(ends));
    } else {
        for (std::uint32_t i = 0; i < contexts; ++i) to.push_back(open_link<Link>(i, contexts));
    }
    return to;
}

// A context's port to descriptors that stay open as long as the ring: were one to lose its other end, the token would
// be wrong and be counted as a mismatch.
struct LinkPort {
    int own;
    int next;
    [[gnu::always_inline]] void send(std::uint64_t token) const { write_whole(next, &token, sizeof token); }
    [[gnu::always_inline]] std::uint64_t receive() const {
        std::uint64_t token = 0;
        read_whole(own, &token, sizeof token);
        return token;
    }
};

// Medium of a ThreadRing: every context writes into the next one's link and blocks in a read of its own.
template <class Link>
class LinkMedium {
public:
    using Token = std::uint64_t;
    using Port = LinkPort;

    explicit LinkMedium(std::uint32_t contexts) : to_(open_ring<Link>(contexts)) {}
    Port port(std::uint32_t context) const {
        return {to_[context].read.get(), to_[next_in_ring(context, to_.size())].write.get()};
    }

private:
    std::vector<LinkEnds> to_;
};

}  // namespace probe
