// control/touch: one context touches one working set a unit, by the code and in the order of the rings: what they touch
// without the switch between.
#include "kit/parameters/working_set.h"
#include "kit/ring/solo.h"

namespace probe {
namespace {

template <Mode mode>
class Touch final : public Solo<mode> {
public:
    explicit Touch(const Plan& plan) : sets_(plan.working_set(), 1) { sets_.of(0).touched(); }

    void run(std::uint64_t units) override {
        const WorkingSet set = sets_.of(0);
        this->repeat(units, [set](std::uint64_t token) __attribute__((always_inline)) {
            set.touch();
            return token + 1;
        });
    }

    void counting(bool on) override {
        const std::uint64_t sum = sets_.of(0).touched();
        counted_ = on ? sum : sum - counted_;
    }
    void add_counts(Counts& counts) const override {
        counts.emplace_back("touches", static_cast<std::int64_t>(counted_));
    }

private:
    WorkingSets sets_;
    std::uint64_t counted_ = 0;
};

}  // namespace

extern const Entry control_touch{
    "control/touch", Shape::control, {"switch"}, {working_set_parameter()}, &make_for_mode<Touch>};

}  // namespace probe
