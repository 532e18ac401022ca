// Experiment create of contexts that need no stack from the kit. A Creator carries out one unit: a context is made,
// entered once, counts itself in *entered, ends and is destroyed.
//
//   explicit Creator(const Plan&)                                             may throw Failure
//   std::uint64_t run_one(std::uint64_t token, std::uint64_t* entered)        token + 1; may throw Failure
//   const Births& births() const                                              optional, for contexts that are tasks
//   std::uint64_t* counter()                                                  memory that the contexts can write to
#pragma once

#include "kit/plan/failure.h"
#include "kit/ring/solo.h"

namespace probe {

// Tasks that have been made, told by their numbers. One with the number of the task before it, or with the creator's,
// is none that was made: the kernel gives a number out again only when it has been through all the others.
class Births {
public:
    void note(int task) {
        count_ += task != last_ && task != creator_;
        last_ = task;
    }
    std::uint64_t count() const { return count_; }

private:
    const int creator_ = os::current_thread();
    int last_ = 0;
    std::uint64_t count_ = 0;
};

template <Mode mode, class Creator>
class Creation final : public Solo<mode> {
public:
    explicit Creation(const Plan& plan) : creator_(plan), entered_(creator_.counter()) {
        // Once before the measured region, where a refusal would cost the batches already made.
        creator_.run_one(0, entered_);
        if (*entered_ != 1)
            throw failed("self_check_failed", "the first context did not run; this is a fault of the probe");
    }

    void run(std::uint64_t units) override {
        std::uint64_t* const entered = entered_;
        this->repeat(units, [this, entered](std::uint64_t token)
                                __attribute__((always_inline)) { return creator_.run_one(token, entered); });
    }

    void publish() override {
        station_.turns = *entered_;
        station_.mismatches = *entered_ - this->token_;
        station_.cpu = -1;
    }
    std::span<const Station> stations() const override { return {&station_, 1}; }
    void counting(bool on) override {
        if constexpr (requires { creator_.births(); })
            births_ = on ? creator_.births().count() : creator_.births().count() - births_;
    }
    void add_counts(Counts& counts) const override {
        if constexpr (requires { creator_.births(); }) counts.emplace_back("distinct_tasks", births_);
        if constexpr (requires { creator_.add_counts(counts); }) creator_.add_counts(counts);
    }

private:
    Creator creator_;
    std::uint64_t* const entered_;
    std::uint64_t births_ = 0;
    Station station_{};
};

// Makes what a plan asks of a mechanism that has this ring and this creator, and nothing else.
template <template <Mode> class RingOfMode, class Creator>
struct RingOrCreation {
    template <Mode mode>
    using Created = Creation<mode, Creator>;
    static std::unique_ptr<Workload> make(const Plan& plan, Mode mode) {
        return plan.asked->live == Live::unit ? make_for_mode<Created>(plan, mode)
                                              : make_ring_for_mode<RingOfMode>(plan, mode);
    }
};

}  // namespace probe
