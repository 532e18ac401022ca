// A link that is an event counter: one file, of which both ends are descriptors. The counter is zero when the token
// comes, so that what is read is the token itself; a token is never zero nor all ones, the two values that an event
// counter cannot carry.
#pragma once

#include <sys/eventfd.h>

#include "kit/ring/links.h"

namespace probe {

struct EventfdLink {
    static constexpr bool duplex = false;
    static std::optional<LinkEnds> open() {
        Descriptor counter(eventfd(0, EFD_CLOEXEC));
        Descriptor copy(fcntl(counter.get(), F_DUPFD_CLOEXEC, 0));
        if (!copy.is_open()) return std::nullopt;
        return LinkEnds{std::move(counter), std::move(copy)};
    }
};

}  // namespace probe
