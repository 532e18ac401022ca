// control/memory-word: a token through memory: stored, and loaded again at once, as between contexts whose switch has
// no argument.
#include "kit/ring/solo.h"

namespace probe {
namespace {

struct MemoryWord {
    explicit MemoryWord(const Plan&) {}
    [[gnu::always_inline]] std::uint64_t operator()(std::uint64_t token) {
        word = token + 1;
        return word;
    }
    volatile std::uint64_t word = 0;
};

}  // namespace

extern const Entry control_memory_word{
    "control/memory-word", Shape::control, {"switch"}, {}, &make_control<MemoryWord>};

}  // namespace probe
