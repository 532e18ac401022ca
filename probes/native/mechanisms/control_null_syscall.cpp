// control/null-syscall: into the kernel and back with nothing done there. getppid, because C libraries used to cache
// getpid.
#include "kit/os/bare_calls.h"
#include "kit/ring/solo.h"

namespace probe {
namespace {

struct NullSyscall {
    explicit NullSyscall(const Plan&) : parent(bare::parent()) {}
    // Fails to count when the kernel did not answer. A parent that dies meanwhile changes the answer and is noticed.
    [[gnu::always_inline]] std::uint64_t operator()(std::uint64_t token) { return token + (bare::parent() == parent); }
    const long parent;
};

}  // namespace

extern const Entry control_null_syscall{
    "control/null-syscall", Shape::control, {"switch", "count"}, {}, &make_control<NullSyscall>};

}  // namespace probe
