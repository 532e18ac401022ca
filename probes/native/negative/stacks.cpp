// Switches of stacks and coroutines that are something else.
#include "asm/stack_switch.h"
#include "kit/parameters/layout.h"
#include "kit/plan/failure.h"
#include "kit/ring/coroutine.h"
#include "kit/stacks/stack_ring.h"
#include "negative/mistakes.h"

namespace probe {
namespace {

using Token = std::uint64_t;

class SkippingSwitcher {
public:
    struct Port {
        void** own;
        void** next;
        // As if the others had been there and had handed it back.
        std::uint64_t pass(std::uint64_t token) const {
            return token % 8 == 7 ? token + lap - 1 : switchcost_stack_switch(own, *next, token);
        }
        std::uint64_t lap;
    };

    SkippingSwitcher(RingState&, std::uint32_t contexts) : suspended_(contexts) {}
    void prepare(std::uint32_t context, Stack stack, StackEntry entry, void* argument) {
        suspended_[context] = make_initial_frame(stack.top, entry, argument);
    }
    Port port(std::uint32_t context) {
        return {&suspended_[context], &suspended_[next_in_ring(context, suspended_.size())], suspended_.size()};
    }

private:
    std::vector<void*> suspended_;
};

template <Mode mode>
using SkippingRing = StackRing<mode, SkippingSwitcher>;

// Contexts 2i and 2i + 1 take their turns on one stack, one after the other.
template <Mode mode>
class DoubledRing final : public Ring<mode, Token> {
public:
    explicit DoubledRing(const Plan& plan)
        : Ring<mode, Token>(plan),
          arena_(plan),
          second_(this->state(), 1),
          suspended_(plan.contexts / 2),
          starts_(plan.contexts / 2) {
        if (plan.contexts % 2 != 0) throw refused("bad_value", "this mistake has an even number of contexts");
        for (std::uint32_t i = 1; i < suspended_.size(); ++i) {
            starts_[i] = {this, i};
            suspended_[i] = make_initial_frame(arena_.at(2 * i - 1).top, &DoubledRing::live, &starts_[i]);
        }
        publish();
    }

    void run(std::uint64_t units) override {
        this->driver().drive(units / this->contexts(), [this](Token token) { return round(token); });
    }
    void publish() override {
        this->driver().send_command(Command::report, [this](Token token) { return round(token); });
    }
    std::uint64_t far_steps() const override { return arena_.far_steps(); }
    void add_counts(Counts& counts) const override {
        counts.emplace_back("distinct_stacks", distinct_stacks(this->stations(), arena_.all()));
    }

private:
    struct Start {
        DoubledRing* ring;
        std::uint32_t index;
    };

    Token round(Token token) {
        second_.arrive(token, this->station_array());
        return suspended_.size() == 1 ? token + 1 : switch_from(0, token + 1);
    }

    Token switch_from(std::uint32_t index, Token token) {
        return switchcost_stack_switch(&suspended_[index], suspended_[(index + 1) % suspended_.size()], token);
    }

    static void live(void* argument, Token token) {
        const Start start = *static_cast<Start*>(argument);
        DoubledRing& ring = *start.ring;
        Turn<mode, Token> first(ring.state(), 2 * start.index), second(ring.state(), 2 * start.index + 1);
        for (;;) {
            first.arrive(token, ring.station_array());
            second.arrive(token + 1, ring.station_array());
            token = ring.switch_from(start.index, token + 2);
        }
    }

    StackArena arena_;
    Turn<mode, Token> second_;
    std::vector<void*> suspended_;
    std::vector<Start> starts_;
};

// The driver is not a coroutine, and its partner is made where it is resumed: a compiler that sees both puts them into
// one function.
template <Mode mode>
class ResolvedRing final : public Ring<mode, Token> {
public:
    explicit ResolvedRing(const Plan& plan) : Ring<mode, Token>(plan), partner_(this->state(), 1) {
        if (plan.contexts != 2) throw refused("bad_value", "this mistake has two contexts");
        publish();
    }

    void run(std::uint64_t units) override {
        RingState& state = this->state();
        Coroutine partner = live(state, partner_, this->station_array());
        this->driver().drive(units / 2, [&](Token token) __attribute__((always_inline)) {
            state.word = token;
            partner.handle.resume();
            return state.word;
        });
        partner.handle.destroy();
    }
    void publish() override {
        RingState& state = this->state();
        Coroutine partner = live(state, partner_, this->station_array());
        this->driver().send_command(Command::report, [&](Token token) {
            state.word = token;
            partner.handle.resume();
            return state.word;
        });
        const char* const frame = static_cast<const char*>(partner.handle.address());
        const void* const place = this->stations()[1].place;
        frames_ = place >= frame && place < frame + 512;
        partner.handle.destroy();
    }
    std::uint64_t far_steps() const override { return 2; }
    void add_counts(Counts& counts) const override { counts.emplace_back("distinct_frames", frames_); }

private:
    static Coroutine live(RingState& state, Turn<mode, Token>& turn, Station* stations) {
        const char anchor = 0;
        for (;;) {
            const Token token = state.word;
            turn.arrive(token, stations, &anchor);
            state.word = token + 1;
            co_await std::suspend_always{};
        }
    }

    Turn<mode, Token> partner_;
    std::int64_t frames_ = 0;  // the partner's; the driver has none
};

}  // namespace

extern const Entry skipped_switch =
    stack_entry("stack/asm", &make_ring_for_mode<SkippingRing>, &shadow_stack_in_the_way);
extern const Entry doubled_contexts =
    stack_entry("stack/asm", &make_ring_for_mode<DoubledRing>, &shadow_stack_in_the_way);
extern const Entry resolved_handle{"coroutine/cpp20",
                                   Shape::stacks,
                                   {"switch"},
                                   {layout_parameter(), working_set_parameter()},
                                   &make_ring_for_mode<ResolvedRing>};

}  // namespace probe
