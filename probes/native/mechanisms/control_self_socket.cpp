// control/self-socket: eight bytes into a connection of the Unix domain and out at its other end by the same thread:
// thread/unix-socket without the switch.
#include "kit/ring/self_link.h"

namespace probe {
namespace {

template <Mode mode>
using SelfSocket = SelfLink<mode, UnixLink>;

}  // namespace

extern const Entry control_self_socket{
    "control/self-socket", Shape::control, {"switch"}, {}, &make_for_mode<SelfSocket>};

}  // namespace probe
