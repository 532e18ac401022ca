// sandbox/syscall: control/null-syscall behind a wall.
#include "kit/os/bare_calls.h"
#include "kit/parameters/wall.h"
#include "kit/ring/solo.h"

namespace probe {
namespace {

struct WalledCall {
    explicit WalledCall(const Plan&) : parent(bare::parent()) {}
    [[gnu::always_inline]] std::uint64_t operator()(std::uint64_t token) { return token + (bare::parent() == parent); }
    const long parent;
};

}  // namespace

extern const Entry sandbox_syscall{
    "sandbox/syscall", Shape::control, {"switch"}, {wall_parameter()}, &make_control<WalledCall>};

}  // namespace probe
