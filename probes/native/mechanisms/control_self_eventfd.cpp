// control/self-eventfd: a number into an event counter and out again by the same thread: thread/eventfd without the
// switch.
#include <sys/eventfd.h>

#include "kit/ring/self_link.h"

namespace probe {
namespace {

struct EventfdLink {
    static std::optional<LinkEnds> open() {
        Descriptor counter(eventfd(0, EFD_CLOEXEC));
        Descriptor copy(fcntl(counter.get(), F_DUPFD_CLOEXEC, 0));
        if (!copy.is_open()) return std::nullopt;
        return LinkEnds{std::move(counter), std::move(copy)};
    }
};

template <Mode mode>
using SelfEventfd = SelfLink<mode, EventfdLink>;

}  // namespace

extern const Entry control_self_eventfd{
    "control/self-eventfd", Shape::control, {"switch"}, {}, &make_for_mode<SelfEventfd>};

}  // namespace probe
