// control/call: what a call and return through a pointer cost, the lower bound of any switch that is not inlined.
#include "asm/control_call.h"

#include "kit/ring/solo.h"

namespace probe {
namespace {

template <Mode mode>
class Call final : public Solo<mode> {
public:
    explicit Call(const Plan&) {}
    void run(std::uint64_t units) override {
        std::uint64_t (*callee)(std::uint64_t) = &switchcost_control_callee;
        asm volatile("" : "+r"(callee));  // the compiler must not know whom it calls
        this->repeat(units, [callee](std::uint64_t token) __attribute__((always_inline)) { return callee(token); });
    }
};

}  // namespace

extern const Entry control_call{"control/call", Shape::control, {"switch"}, {}, &make_for_mode<Call>};

}  // namespace probe
