// control/setjmp: _setjmp and _longjmp back to it, on one stack: stack/sjlj without the change of stacks.
#include "kit/ring/solo.h"
#include "kit/stacks/longjmp.h"

namespace probe {
namespace {

template <Mode mode>
class Setjmp final : public Solo<mode> {
public:
    explicit Setjmp(const Plan&) {}
    // The loop is spelled out: a function that calls setjmp is never inlined, and a return right after a jump is
    // mispredicted, which a ring does not pay for. The token waits in memory, as in stack/sjlj.
    void run(std::uint64_t units) override {
        if constexpr (reads_counter(mode)) {
            this->repeat(units, [this](std::uint64_t token) { return there_and_back(token); });
        } else {
            const std::uint64_t end = this->token_ + units;
            while (this->token_ != end) {
                if (_setjmp(registers_) == 0) switchcost_longjmp(registers_, 1);
                ++this->token_;
            }
        }
    }

private:
    [[gnu::noinline]] std::uint64_t there_and_back(std::uint64_t token) {
        word_ = token;
        if (_setjmp(registers_) == 0) switchcost_longjmp(registers_, 1);
        return word_ + 1;
    }

    std::uint64_t word_ = 0;
    jmp_buf registers_;
};

}  // namespace

extern const Entry control_setjmp{"control/setjmp", Shape::control, {"switch", "count"}, {}, &make_for_mode<Setjmp>};

}  // namespace probe
