// control/empty-loop: an addition a compiler may not remove. What is left of a figure near it is the loop itself.
#include "kit/ring/solo.h"

namespace probe {
namespace {

template <Mode mode>
class EmptyLoop final : public Solo<mode> {
public:
    explicit EmptyLoop(const Plan&) {}
    void run(std::uint64_t units) override {
        this->repeat(units, [](std::uint64_t token) __attribute__((always_inline)) {
            ++token;
            asm volatile("" : "+r"(token));
            return token;
        });
    }
};

}  // namespace

extern const Entry control_empty_loop{"control/empty-loop", Shape::control, {"switch"}, {}, &make_for_mode<EmptyLoop>};

}  // namespace probe
