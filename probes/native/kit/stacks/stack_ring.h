// Rings and single-use contexts of mechanisms that switch stacks inside one thread. A Switcher is what a mechanism
// adds:
//
//   Switcher(RingState&, std::uint32_t contexts)
//   void prepare(std::uint32_t context, Stack, StackEntry, void* argument)   a context that begins in
//   StackEntry(argument, token) Port port(std::uint32_t context)      with  std::uint64_t pass(std::uint64_t token)
//   switch to the next context of the ring optionally PairPort pair_port(context) and keep(context, PairPort), for
//   rings of two optionally checks_sparsely, where a check in every turn costs more than chance does (kit/ring/ring.h)
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "asm/stack_switch.h"
#include "kit/experiments/list.h"
#include "kit/parameters/depth.h"
#include "kit/ring/ring.h"
#include "kit/ring/solo.h"
#include "kit/stacks/stacks.h"

namespace probe {

template <Mode mode, class Switcher, class Deep = NoDepth>
class StackRing final : public Ring<mode, std::uint64_t> {
    using Token = std::uint64_t;
    static constexpr bool is_deep = !std::is_same_v<Deep, NoDepth>;
    static constexpr bool may_check_sparsely =
        mode == Mode::batch && !is_deep && requires { Switcher::checks_sparsely; };

public:
    explicit StackRing(const Plan& plan)
        : Ring<mode, Token>(plan),
          sparse_(may_check_sparsely && checks_sparsely<mode>(plan)),
          arena_(plan),
          switcher_(this->state(), plan.contexts),
          deep_(plan),
          starts_(plan.contexts) {
        for (std::uint32_t i = 1; i < plan.contexts; ++i) {
            starts_[i] = {this, i};
            switcher_.prepare(i, arena_.at(i - 1), &StackRing::live, &starts_[i]);
        }
        publish();  // first entry of every context, outside every clock
    }

    void run(std::uint64_t units) override {
        with_port(0, [this, units](auto& port) {
            const auto pass = [&port](Token token) __attribute__((always_inline)) { return port.pass(token); };
            if constexpr (may_check_sparsely) {
                if (sparse_) return this->driver().drive_sparsely(units / this->contexts(), pass);
            }
            this->driver().drive(units / this->contexts(), pass);
        });
    }

    void publish() override {
        with_port(0, [this](auto& port) {
            this->driver().send_command(Command::report, [&port](Token token) { return port.pass(token); });
        });
    }

    // The contexts own nothing but their stacks, so that they may simply be abandoned.
    void close() override { arena_.check_canaries(); }
    void counting(bool on) override {
        deep_.counting(on);
        sequence_ = on ? this->token() : this->token() - sequence_;
    }
    std::uint64_t far_steps() const override { return arena_.far_steps(); }
    void add_counts(Counts& counts) const override {
        counts.emplace_back("distinct_stacks", distinct_stacks(this->stations(), arena_.all()));
        deep_.add_counts(counts, sequence_);
    }

private:
    struct Start {
        StackRing* ring;
        std::uint32_t index;
    };

    static void live(void* argument, std::uint64_t token) {
        const Start start = *static_cast<Start*>(argument);
        StackRing& ring = *start.ring;
        ring.with_port(start.index, [&ring, start, token](auto& port) __attribute__((always_inline)) {
            const auto pass = [&port](Token next) __attribute__((always_inline)) { return port.pass(next); };
            if constexpr (may_check_sparsely) {
                if (ring.sparse_)
                    serve_sparsely<mode, Token>(ring.state(), ring.station_array(), start.index, token, pass);
            }
            serve<mode, RunBy::one_thread, Token>(ring.state(), ring.station_array(), start.index, token, pass);
        });
        __builtin_trap();  // rings of stacks are never told to stop
    }

    // A switcher may have a port of its own for rings of two, where the other context can be kept in a register.
    template <class Body>
    [[gnu::always_inline]] void with_port(std::uint32_t context, Body body) {
        if constexpr (requires { switcher_.pair_port(context); }) {
            if (this->contexts() == 2) {
                auto port = switcher_.pair_port(context);
                deep_.below(context, port, body);
                switcher_.keep(context, port);
                return;
            }
        }
        auto port = switcher_.port(context);
        deep_.below(context, port, body);
    }

    const bool sparse_;
    StackArena arena_;
    Switcher switcher_;
    [[no_unique_address]] Deep deep_;
    std::uint64_t sequence_ = 0;  // switches of all batches, once they are over
    std::vector<Start> starts_;
};

// Experiment create. A Creator carries out one unit: a context on the given stack is entered with `token`, counts
// itself in *entered, gives token + 1 back and ends.
//
//   std::uint64_t Creator::run_one(Stack, std::uint64_t token, std::uint64_t* entered)
template <Mode mode, class Creator>
class StackCreation final : public Solo<mode> {
public:
    explicit StackCreation(const Plan& plan) : maker_(plan) {}

    void run(std::uint64_t units) override {
        this->repeat(units, [this](std::uint64_t token) __attribute__((always_inline)) {
            const Stack stack = maker_.make();
            if (stack.bottom == nullptr) [[unlikely]]
                return token;  // the sum will be short, and the session says so
            const std::uint64_t returned = creator_.run_one(stack, token, &entered_);
            maker_.release(stack);
            return returned;
        });
    }

    void publish() override {
        station_.turns = entered_;
        station_.mismatches = entered_ - this->token_;
        station_.mxcsr = arch::store_mxcsr();
        station_.cpu = -1;
    }
    std::span<const Station> stations() const override { return {&station_, 1}; }

private:
    StackMaker maker_;
    Creator creator_;
    std::uint64_t entered_ = 0;  // written by the created contexts, each once
    Station station_{};
};

// A mechanism's rings and contexts by experiment. Made of a Switcher, or of a ring of its own.
template <class Switcher, class Creator>
struct Stacks {
    template <Mode mode>
    using Ring = StackRing<mode, Switcher>;
    template <Mode mode>
    using DeepRing = StackRing<mode, Switcher, Depth>;
    template <Mode mode>
    using Creation = StackCreation<mode, Creator>;
};

template <class Family>
std::unique_ptr<Workload> make_stacks(const Plan& plan, Mode mode) {
    if constexpr (requires { typename Family::template DeepRing<Mode::batch>; }) {
        if (is_deep(plan)) return make_ring_for_mode<Family::template DeepRing>(plan, mode);
    }
    return plan.asked->live == Live::unit ? make_for_mode<Family::template Creation>(plan, mode)
                                          : make_ring_for_mode<Family::template Ring>(plan, mode);
}

// Of a mechanism whose contexts lie on the kit's stacks.
inline Entry stack_entry(const char* id, std::unique_ptr<Workload> (*make)(const Plan&, Mode),
                         std::optional<Unavailable> (*check)(), std::vector<Parameter> more = {}) {
    more.insert(more.end(), {layout_parameter(), stack_memory_parameter(), stack_offset_parameter(),
                             stack_size_parameter(), working_set_parameter()});
    return {id, Shape::stacks, of_stacks, std::move(more), make, check};
}

}  // namespace probe
