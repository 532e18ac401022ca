// control/null-syscall: into the kernel and back with nothing done there. getppid, because C libraries used to cache
// getpid.
#include "kit/ring/solo.h"
#include "kit/tasks/bare_calls.h"

namespace probe {
namespace {

template <Mode mode>
class NullSyscall final : public Solo<mode> {
public:
    explicit NullSyscall(const Plan&) : parent_(bare::parent()) {}
    void run(std::uint64_t units) override {
        this->repeat(units, [this](std::uint64_t token) __attribute__((always_inline)) {
            // Fails to count when the kernel did not answer. A parent that dies meanwhile changes the answer and is
            // noticed.
            return token + (bare::parent() == parent_);
        });
    }

private:
    const long parent_;
};

}  // namespace

extern const Entry control_null_syscall{
    "control/null-syscall", Shape::control, {"switch"}, {}, &make_for_mode<NullSyscall>};

}  // namespace probe
