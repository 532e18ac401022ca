// control/saved-registers: control/call with a callee that saves and loads the registers which a switch of stacks does.
#include "asm/control_saved_registers.h"

#include "kit/ring/solo.h"

namespace probe {
namespace {

template <Mode mode>
class SavedRegisters final : public Solo<mode> {
public:
    explicit SavedRegisters(const Plan&) {}
    void run(std::uint64_t units) override {
        std::uint64_t (*callee)(std::uint64_t) = &switchcost_control_saving_callee;
        asm volatile("" : "+r"(callee));  // the compiler must not know whom it calls
        this->repeat(units, [callee](std::uint64_t token) __attribute__((always_inline)) { return callee(token); });
    }
};

}  // namespace

extern const Entry control_saved_registers{
    "control/saved-registers", Shape::control, {"switch"}, {}, &make_for_mode<SavedRegisters>};

}  // namespace probe
