// control/empty-loop: an addition a compiler may not remove. What is left of a figure near it is the loop itself.
#include "kit/ring/solo.h"

namespace probe {
namespace {

struct EmptyLoop {
    explicit EmptyLoop(const Plan&) {}
    [[gnu::always_inline]] std::uint64_t operator()(std::uint64_t token) {
        ++token;
        asm volatile("" : "+r"(token));
        return token;
    }
};

}  // namespace

extern const Entry control_empty_loop{
    "control/empty-loop", Shape::control, {"switch", "count"}, {}, &make_control<EmptyLoop>};

}  // namespace probe
