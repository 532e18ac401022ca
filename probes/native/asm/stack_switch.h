// The probe's own minimal stack switch. One implementation per architecture and ABI beside this header; the names are
// the same in each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

// Hidden visibility: a direct call. With -fno-plt clang otherwise keeps the address in a register and calls through it,
// which puts a second indirect branch into every hop.
#define SWITCHCOST_HIDDEN __attribute__((visibility("hidden")))

extern "C" {

// Suspends the caller: saves what the ABI makes the callee save on its stack and the stack pointer in *save, continues
// the context whose stack pointer is `to`, and gives it `token`. Returns, with a token, when another context continues
// the one saved in *save.
//
// Contract: `to` was stored by this function or made by make_initial_frame(), and is used once. *save must not be
// `to`'s own slot.
SWITCHCOST_HIDDEN std::uint64_t switchcost_stack_switch(void** save, void* to, std::uint64_t token);

// First instruction of a new context; never called from C++.
SWITCHCOST_HIDDEN void switchcost_stack_entry();
}

namespace probe {

// Runs on the new stack with the token that came with the first switch. Must not return.
using StackEntry = void (*)(void* argument, std::uint64_t token);

#if defined(__x86_64__)
// What switchcost_stack_switch finds on a suspended stack, lowest address first (asm/stack_switch_x86_64_sysv.S).
struct SuspendedFrame {
    std::uint64_t r15;
    std::uint64_t r14;
    std::uint64_t r13;  // new context: the StackEntry
    std::uint64_t r12;  // new context: its argument
    std::uint64_t rbx;
    std::uint64_t rbp;
    void (*resume_at)();
};
static_assert(sizeof(SuspendedFrame) == 7 * 8);

// `top` is 16-byte aligned, so that the stack is aligned as the ABI demands where the entry makes its call. Returns the
// stack pointer to switch to.
inline void* make_initial_frame(char* top, StackEntry entry, void* argument) {
    SuspendedFrame frame{};
    frame.r13 = reinterpret_cast<std::uint64_t>(entry);
    frame.r12 = reinterpret_cast<std::uint64_t>(argument);
    frame.resume_at = &switchcost_stack_entry;
    char* place = top - sizeof frame;
    std::memcpy(place, &frame, sizeof frame);
    return place;
}
#elif defined(__aarch64__)
// What switchcost_stack_switch finds on a suspended stack, lowest address first (asm/stack_switch_aarch64_aapcs64.S).
struct SuspendedFrame {
    std::uint64_t d8_to_d15[8];
    std::uint64_t x19;  // new context: the StackEntry
    std::uint64_t x20;  // new context: its argument
    std::uint64_t x21_to_x28[8];
    std::uint64_t x29;
    void (*resume_at)();  // x30
};
static_assert(sizeof(SuspendedFrame) == 160);

// `top` is 16-byte aligned, and so is the frame: AAPCS64 demands it of the stack pointer at all times.
inline void* make_initial_frame(char* top, StackEntry entry, void* argument) {
    SuspendedFrame frame{};
    frame.x19 = reinterpret_cast<std::uint64_t>(entry);
    frame.x20 = reinterpret_cast<std::uint64_t>(argument);
    frame.resume_at = &switchcost_stack_entry;
    char* place = top - sizeof frame;
    std::memcpy(place, &frame, sizeof frame);
    return place;
}
#elif defined(__riscv) && __riscv_xlen == 64
// What switchcost_stack_switch finds on a suspended stack, lowest address first (asm/stack_switch_riscv64_lp64d.S).
struct SuspendedFrame {
    std::uint64_t fs0_to_fs11[12];
    std::uint64_t s0;
    std::uint64_t s1;  // new context: the StackEntry
    std::uint64_t s2;  // new context: its argument
    std::uint64_t s3_to_s11[9];
    void (*resume_at)();  // ra
    std::uint64_t nothing;
};
static_assert(sizeof(SuspendedFrame) == 208);

// `top` is 16-byte aligned, and so is the frame, as the psABI demands where the entry makes its call.
inline void* make_initial_frame(char* top, StackEntry entry, void* argument) {
    SuspendedFrame frame{};
    frame.s1 = reinterpret_cast<std::uint64_t>(entry);
    frame.s2 = reinterpret_cast<std::uint64_t>(argument);
    frame.resume_at = &switchcost_stack_entry;
    char* place = top - sizeof frame;
    std::memcpy(place, &frame, sizeof frame);
    return place;
}
#endif

}  // namespace probe
