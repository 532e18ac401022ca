// Stacks of a ring: one mapping for all of them, because a mapping each meets vm.max_map_count at 65 530 contexts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kit/parameters/layout.h"
#include "kit/plan/mechanism.h"

namespace probe {

struct Stack {
    char* bottom;  // lowest address
    char* top;     // one past the highest, 64-byte aligned
    std::size_t size() const { return static_cast<std::size_t>(top - bottom); }
};

// Where inside its page a stack lies decides which words of two stacks share their low address bits, and so how fast a
// switch is: a load that follows a store to an address with the same low 12 bits waits for it (4 KiB aliasing), and a 2
// ns switch takes 3.4 ns.
struct StackOffsets {
    std::size_t driver;  // of the driver's frame, a multiple of 16
    std::size_t first;   // of the bottom of the ring's lowest stack, a multiple of 64

    // Drawn from the plan's seed, which is another in every start; `stack_offset=fixed`: two that do not alias.
    explicit StackOffsets(const Plan& plan);
};

class StackArena {
public:
    // Stacks of the contexts that are not the driver, as the plan's `stack_size` and `layout` say. Throws Failure
    // limit_reached.
    explicit StackArena(const Plan& plan);
    StackArena(const StackArena&) = delete;
    StackArena& operator=(const StackArena&) = delete;
    ~StackArena();

    // Of context index + 1.
    Stack at(std::uint32_t index) const;
    std::vector<Stack> all() const;

    // Hops of a lap that lead elsewhere than to the stack right above; the driver's own lies apart.
    std::uint64_t far_steps() const;

    // Throws self_check_failed when a context wrote below its stack's guard line.
    void check_canaries() const;

private:
    std::uint32_t count_;
    Layout layout_;
    std::size_t stack_size_;
    std::size_t pitch_;
    std::size_t first_;
    std::size_t bytes_;
    char* base_;
};

// Contexts that ran on a stack which is nobody else's: each of `stacks` (contexts 1, 2 …) must hold the place that its
// context published and overlap no other, and the driver's place lie in none of them.
std::int64_t distinct_stacks(std::span<const Station> stations, std::span<const Stack> stacks);

// The parameter `stack_size` and its use are the same in every mechanism with stacks of its own.
Parameter stack_size_parameter();

// The parameter `stack_offset`: where the stacks lie inside their pages.
Parameter stack_offset_parameter();

// The parameter `stack_memory` of experiment create.
Parameter stack_memory_parameter();

// A stack for one context of experiment create. `malloc`: malloc and free, whatever the C library caches. `mmap`: a
// mapping of its own, so that page faults and munmap belong to the cost.
class StackMaker {
public:
    explicit StackMaker(const Plan& plan);
    Stack make() const;
    void release(Stack stack) const;

private:
    std::size_t size_;
    bool mapped_;
};

// With an active shadow stack (CET) a jump to another stack dies at the next return. Null: not in the way.
std::optional<Unavailable> shadow_stack_in_the_way();

// Runs `function(argument)` with the frame at this offset inside its page, wherever the kernel began the stack.
void call_at_stack_offset(std::size_t offset, void (*function)(void*), void* argument);

}  // namespace probe
