// control/work: a chain of steps of known length, each times three. No processor can shorten it, so that what a
// way of timing gets wrong shows as the difference from the same chain timed in batches.
#include "kit/parameters/reads.h"
#include "kit/ring/chain.h"
#include "kit/ring/solo.h"

namespace probe {
namespace {

template <Mode mode>
class Work final : public Solo<mode> {
public:
    explicit Work(const Plan& plan) : length_(plan.number("length")) {}
    void run(std::uint64_t units) override {
        const std::uint64_t length = length_;
        this->repeat(units, [length, this](std::uint64_t token) __attribute__((always_inline)) {
            product_ = chain::multiply(product_, length);
            return token + 1;
        });
    }

private:
    std::uint64_t length_;
    std::uint64_t product_ = 1;  // the next chain begins with it: chains do not overlap either
};

}  // namespace

extern const Entry control_work{
    "control/work", Shape::control, {"switch"}, {{"length", {}}, reads_parameter()}, &make_for_any_mode<Work>};

}  // namespace probe
