#include "kit/parameters/working_set.h"

#include "kit/os/limits.h"
#include "kit/parameters/layout.h"
#include "kit/plan/mechanism.h"
#include "kit/ring/shared.h"

namespace probe {
namespace {

constexpr std::uint64_t page = 4096;
constexpr std::uint64_t line = 64;

// Three cache lines from the beginning of one set to that of the next, beside whole pages: small sets that all began at
// the same offset of a page would share one set of the first-level cache. The same colours as the stacks have.
constexpr std::uint64_t colour_gap = 3 * line;

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

[[gnu::noinline]] void WorkingSet::touch() const {
    const std::uint64_t end = bytes;
    const std::uint64_t stride = step;
    char* const first = base;
    std::uint64_t offset = 0;
    do {
        std::uint64_t& word = *reinterpret_cast<std::uint64_t*>(first + offset);
        ++word;
        asm volatile("" : "+m"(word));
        offset += stride;
        if (offset >= end) offset -= end;
    } while (offset != 0);
}

std::uint64_t WorkingSet::touched() const {
    std::uint64_t sum = 0;
    for (std::uint64_t offset = 0; offset < bytes; offset += line) {
        volatile std::uint64_t& word = *reinterpret_cast<volatile std::uint64_t*>(base + offset);
        const std::uint64_t touches = word;
        word = touches;
        sum += touches;
    }
    return sum;
}

WorkingSets::WorkingSets(std::uint64_t bytes_each, std::uint32_t contexts)
    : bytes_(round_up(bytes_each, line)),
      step_(golden_step(bytes_ / line) * line),
      pitch_(round_up(bytes_, page) + colour_gap),
      mapped_(round_up(pitch_ * contexts, page)) {
    require_memory((round_up(bytes_, page) + page) * contexts, "use fewer contexts or a smaller working_set");
    base_ = static_cast<char*>(map_zeroed(mapped_, false));
}

WorkingSets::~WorkingSets() { unmap(base_, mapped_); }

Parameter working_set_parameter() {
    Parameter parameter{"working_set", {}};
    parameter.count = [](const Counting& counting, Counts& counts) {
        // A control tells its touches itself.
        if (counting.plan.working_set() != 0 && !counting.workload.stations().empty()) {
            counts.emplace_back("touches", static_cast<std::int64_t>(counting.touches));
        }
    };
    return parameter;
}

}  // namespace probe
