// Calls below the switches of stacks (parameters `depth` and `frames`). `held`: each context called so many functions
// before its first switch, and returns from none. `unwound`: it calls them anew for each switch, which happens in the
// last of them, and returns from all.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "kit/plan/failure.h"
#include "kit/plan/mechanism.h"
#include "kit/ring/shared.h"

namespace probe {

// Both of them, for the list of an entry.
inline std::vector<Parameter> depth_parameters() { return {{"depth", {}}, {"frames", {"held", "unwound"}}}; }

inline bool is_deep(const Plan& plan) { return plan.parameters.contains("depth") && plan.number("depth") != 0; }

inline bool unwinds(const Plan& plan) { return plan.text("frames") == "unwound"; }

// Bytes of a stack that a frame takes at most, by what gcc and clang make of the functions below.
inline constexpr std::uint64_t frame_bytes = 160;

inline void require_room_for_frames(const Plan& plan) {
    const std::uint64_t depth = plan.number("depth"), needed = 8192 + depth * frame_bytes;
    if (plan.number("stack_size") >= needed) return;
    throw unsupported("limit_reached", "depth=" + std::to_string(depth) + " takes up to " + std::to_string(needed) +
                                           " bytes of stack; add --param stack_size=" + std::to_string(needed));
}

// One call that is held. They form a list from the lowest on, so that they can be counted while they live.
struct Frame {
    const Frame* above;
};

// Runs `body` below `left` calls, and says which is the lowest of them.
template <class Body>
[[gnu::noinline]] void hold(std::uint64_t left, const Frame* above, const Frame** lowest, Body& body) {
    Frame own{above};
    asm volatile("" : : "r"(&own) : "memory");
    if (left == 0) {
        *lowest = above;
        body();
    } else {
        hold(left - 1, &own, lowest, body);
    }
    asm volatile("" : : "r"(&own) : "memory");  // or the call above becomes a jump
}

// Frames from the lowest on, each above the one before.
inline std::uint64_t frames_held(const Frame* lowest) {
    std::uint64_t count = 0;
    for (const Frame* frame = lowest; frame != nullptr; frame = frame->above) {
        ++count;
        if (frame->above != nullptr && frame->above <= frame) break;
    }
    return count;
}

// Passes the token on below `left` calls; each is counted where it begins.
template <class Port>
[[gnu::noinline]] std::uint64_t pass_below(Port& port, std::uint64_t left, std::uint64_t token,
                                           std::uint64_t* entered) noexcept {
    ++*entered;
    token = left == 1 ? port.pass(token) : pass_below(port, left - 1, token, entered);
    asm volatile("" : "+r"(token));  // or the call above becomes a jump
    return token;
}

template <class Port>
struct UnwindingPort {
    Port port;
    std::uint64_t depth;
    std::uint64_t* entered;
    [[gnu::always_inline]] std::uint64_t pass(std::uint64_t token) noexcept {
        return pass_below(port, depth, token, entered);
    }
};

// What a ring of stacks keeps of its frames.
class Depth {
public:
    explicit Depth(const Plan& plan)
        : depth_(plan.number("depth")), unwound_(unwinds(plan)), lowest_(plan.contexts), entered_(plan.contexts) {
        require_room_for_frames(plan);
    }

    template <class Port, class Body>
    [[gnu::always_inline]] void below(std::uint32_t context, Port& port, Body& body) {
        if (unwound_) {
            UnwindingPort<Port> deep{port, depth_, &entered_[context].value};
            body(deep);
            port = deep.port;
        } else {
            auto at_the_bottom = [&] { body(port); };
            hold(depth_, nullptr, &lowest_[context], at_the_bottom);
        }
    }

    void counting(bool on) {
        std::uint64_t sum = 0;
        for (const Entered& entered : entered_) sum += entered.value;
        counted_ = on ? sum : sum - counted_;
    }
    // Below all of `units` switches. Held: by the context that has fewest, the driver apart, whose frames are gone.
    void add_counts(Counts& counts, std::uint64_t units) const {
        std::uint64_t fewest = depth_;
        for (std::size_t i = 1; i < lowest_.size(); ++i) fewest = std::min(fewest, frames_held(lowest_[i]));
        counts.emplace_back("frames", static_cast<std::int64_t>(unwound_ ? counted_ : fewest * units));
    }

private:
    struct alignas(64) Entered {
        std::uint64_t value = 0;
    };
    std::uint64_t depth_;
    bool unwound_;
    std::vector<const Frame*> lowest_;
    std::vector<Entered> entered_;
    std::uint64_t counted_ = 0;
};

// Of a ring without the parameter, or at depth 0.
struct NoDepth {
    explicit NoDepth(const Plan&) {}
    template <class Port, class Body>
    [[gnu::always_inline]] void below(std::uint32_t, Port& port, Body& body) {
        body(port);
    }
    void counting(bool) {}
    void add_counts(Counts&, std::uint64_t) const {}
};

}  // namespace probe
