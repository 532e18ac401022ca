// control/fpu-state: what switches of stacks save and load of the floating-point unit, alone.
#include "kit/os/arch.h"
#include "kit/ring/solo.h"

namespace probe {
namespace {

template <Mode mode>
class FpuState final : public Solo<mode> {
public:
    explicit FpuState(const Plan& plan) : environment_(plan.text("what") == "environment") {}
    void run(std::uint64_t units) override {
        if (environment_) {
            this->repeat(units, [](std::uint64_t token) __attribute__((always_inline)) {
                arch::save_and_load_fpu_environment();
                return token + 1;
            });
        } else {
            this->repeat(units, [](std::uint64_t token) __attribute__((always_inline)) {
                arch::save_and_load_fpu_control();
                return token + 1;
            });
        }
    }

private:
    bool environment_;
};

}  // namespace

extern const Entry control_fpu_state{"control/fpu-state",
                                     Shape::control,
                                     {"switch", "count"},
                                     {{"what", {"control", "environment"}}},
                                     &make_for_mode<FpuState>};

}  // namespace probe
