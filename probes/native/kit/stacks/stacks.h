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
    std::size_t bytes_;
    char* base_;
};

// Contexts that ran on a stack which is nobody else's: each of `stacks` (contexts 1, 2 …) must hold the place that its
// context published and overlap no other, and the driver's place lie in none of them.
std::int64_t distinct_stacks(std::span<const Station> stations, std::span<const Stack> stacks);

// The parameter `stack_size` and its use are the same in every mechanism with stacks of its own.
Parameter stack_size_parameter(const char* standard, std::uint64_t lowest);

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

// Runs `function(argument)` with the stack pointer at a fixed offset inside its page. Why: the kernel starts a main
// stack at a random multiple of 16 bytes, and in about one start of 64 the driver's saved registers then share their
// low 12 address bits with those of a ring stack; a load that follows such a store waits for it (4 KiB aliasing) and a
// 2 ns switch takes 3.4 ns.
void call_at_fixed_stack_offset(void (*function)(void*), void* argument);

}  // namespace probe
