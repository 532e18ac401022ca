#include "kit/stacks/stacks.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <numeric>

#include "kit/os/limits.h"
#include "kit/os/os.h"
#include "kit/plan/drawn.h"
#include "kit/plan/failure.h"
#include "kit/ring/shared.h"

namespace probe {
namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t line = 64;

// Stack colouring: three cache lines between two stacks. Neighbouring stacks of a power-of-two size would otherwise put
// their hot words into one set of the first-level cache (64 sets of 12 ways here) and thrash from the 13th context on;
// three is odd, so that the tops walk through all sets.
constexpr std::size_t colour_gap = 3 * line;

// The canary is a line that must still be zero. Fresh pages are zero, so that it costs no memory in 100 000 untouched
// stacks.
constexpr std::size_t canary_bytes = line;

// The fixed offsets: the frames of context 1 lie half a page off the driver's.
constexpr std::size_t fixed_first = 1024;
constexpr std::size_t fixed_driver = 3072;

std::size_t round_up(std::size_t value, std::size_t unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

StackOffsets::StackOffsets(const Plan& plan) : driver(fixed_driver), first(fixed_first) {
    if (plan.parameters.contains("stack_offset") && plan.text("stack_offset") == "fixed") return;
    const std::uint64_t both = drawn(plan.seed, 1);
    driver = both % (page / 16) * 16;
    first = (both >> 32) % (page / line) * line;
}

StackArena::StackArena(const Plan& plan)
    : count_(plan.contexts - 1),
      layout_(plan, count_),
      stack_size_(round_up(plan.number("stack_size"), line)),
      pitch_(stack_size_ + colour_gap),
      first_(StackOffsets(plan).first),
      bytes_(round_up(first_ + pitch_ * count_, page)) {
    // A context touches the top page of its stack and often a second one.
    const std::uint64_t touched = pitch_ < 2 * page ? pitch_ : 2 * page;
    require_memory(touched * count_);
    base_ = static_cast<char*>(map_zeroed(bytes_, false));
}

StackArena::~StackArena() { unmap(base_, bytes_); }

Stack StackArena::at(std::uint32_t index) const {
    char* bottom = base_ + first_ + pitch_ * layout_.place(index);
    return {bottom, bottom + stack_size_};
}

std::vector<Stack> StackArena::all() const {
    std::vector<Stack> result(count_);
    for (std::uint32_t i = 0; i < count_; ++i) result[i] = at(i);
    return result;
}

std::int64_t distinct_stacks(std::span<const Station> stations, std::span<const Stack> stacks) {
    const auto holds = [](const Stack& stack, const void* place) { return place >= stack.bottom && place < stack.top; };
    std::vector<std::size_t> upwards(stacks.size());
    std::iota(upwards.begin(), upwards.end(), 0);
    std::sort(upwards.begin(), upwards.end(),
              [&](std::size_t left, std::size_t right) { return stacks[left].bottom < stacks[right].bottom; });
    const void* const driver = stations[0].place;
    std::int64_t distinct =
        std::none_of(stacks.begin(), stacks.end(), [&](const Stack& stack) { return holds(stack, driver); });
    const char* taken = nullptr;  // up to here, by stacks that count
    for (const std::size_t index : upwards) {
        const Stack& stack = stacks[index];
        if (stack.bottom < taken || !holds(stack, stations[index + 1].place)) continue;
        ++distinct;
        taken = stack.top;
    }
    return distinct;
}

std::uint64_t StackArena::far_steps() const {
    std::uint64_t far = 2;  // to and from the driver
    for (std::uint32_t i = 1; i < count_; ++i) far += at(i).bottom != at(i - 1).bottom + pitch_;
    return far;
}

void StackArena::check_canaries() const {
    for (std::uint32_t i = 0; i < count_; ++i) {
        const char* canary = at(i).bottom;
        for (std::size_t byte = 0; byte < canary_bytes; ++byte) {
            if (canary[byte] == 0) continue;
            throw failed("self_check_failed",
                         "context " + std::to_string(i + 1) + " overflowed its stack; give a larger stack_size");
        }
    }
}

Parameter stack_size_parameter() { return {"stack_size", {}}; }

Parameter stack_offset_parameter() { return {"stack_offset", {"drawn", "fixed"}}; }

Parameter stack_memory_parameter() { return {"stack_memory", {"malloc", "mmap"}}; }

StackMaker::StackMaker(const Plan& plan)
    : size_(round_up(plan.number("stack_size"), line)), mapped_(plan.text("stack_memory") == "mmap") {
    // Tried once before the measured region, which has no way to report a refusal.
    Stack stack = make();
    if (stack.bottom == nullptr) throw memory_limit_failure(size_, ENOMEM);
    release(stack);
}

Stack StackMaker::make() const {
    char* bottom = nullptr;
    if (mapped_) {
        bottom = static_cast<char*>(os::map_stack(size_));
    } else {
        bottom = static_cast<char*>(std::malloc(size_));
    }
    // malloc aligns to 16 bytes, which is what the ABI asks of a stack.
    return {bottom, bottom + (size_ & ~std::size_t{15})};
}

void StackMaker::release(Stack stack) const {
    if (mapped_) {
        os::unmap_stack(stack.bottom, size_);
    } else {
        std::free(stack.bottom);
    }
}

[[gnu::noinline]] void call_at_stack_offset(std::size_t offset, void (*function)(void*), void* argument) {
    const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    void* volatile pad = __builtin_alloca(((here - offset) % page + 16) & ~std::size_t{15});
    (void)pad;
    function(argument);
}

}  // namespace probe
