// control/self-eventfd: a number into an event counter and out again by the same thread: thread/eventfd without the
// switch.
#include <sys/eventfd.h>

#include "kit/ring/self_link.h"

namespace probe {
namespace {

struct EventfdLink {
    static bool open(int (&ends)[2]) {
        ends[0] = eventfd(0, EFD_CLOEXEC);
        ends[1] = ends[0] == -1 ? -1 : fcntl(ends[0], F_DUPFD_CLOEXEC, 0);
        if (ends[1] == -1) close_once(ends[0]);
        return ends[1] != -1;
    }
};

template <Mode mode>
using SelfEventfd = SelfLink<mode, EventfdLink>;

}  // namespace

extern const Entry control_self_eventfd{
    "control/self-eventfd", Shape::control, {"switch"}, {}, &make_for_mode<SelfEventfd>};

}  // namespace probe
