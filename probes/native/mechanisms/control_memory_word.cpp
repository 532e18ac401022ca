// control/memory-word: a token through memory: stored, and loaded again at once, as between contexts whose switch has
// no argument.
#include "kit/ring/solo.h"

namespace probe {
namespace {

template <Mode mode>
class MemoryWord final : public Solo<mode> {
public:
    explicit MemoryWord(const Plan&) {}
    void run(std::uint64_t units) override {
        this->repeat(units, [this](std::uint64_t token) __attribute__((always_inline)) {
            word_ = token + 1;
            return static_cast<std::uint64_t>(word_);
        });
    }

private:
    volatile std::uint64_t word_ = 0;
};

}  // namespace

extern const Entry control_memory_word{
    "control/memory-word", Shape::control, {"switch"}, {}, &make_for_mode<MemoryWord>};

}  // namespace probe
