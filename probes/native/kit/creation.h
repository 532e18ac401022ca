// Experiment create of contexts that need no stack from the kit. A Creator carries out one unit: a context is made, entered once,
// counts itself in *entered, ends and is destroyed.
//
//   explicit Creator(const Plan&)                                             may throw Failure
//   std::uint64_t run_one(std::uint64_t token, std::uint64_t* entered)        token + 1; may throw Failure
//   std::uint64_t* counter()                                                  memory that the contexts can write to
#pragma once

#include "kit/failure.h"
#include "kit/solo.h"

namespace probe {

template <Mode mode, class Creator>
class Creation final : public Solo<mode> {
public:
    explicit Creation(const Plan& plan) : creator_(plan), entered_(creator_.counter()) {
        // Once before the measured region, where a refusal would cost the batches already made.
        creator_.run_one(0, entered_);
        if (*entered_ != 1) throw failed("self_check_failed", "the first context did not run; this is a fault of the probe");
    }

    void run(std::uint64_t units) override {
        std::uint64_t* const entered = entered_;
        this->repeat(units, [this, entered](std::uint64_t token) __attribute__((always_inline)) { return creator_.run_one(token, entered); });
    }

    void publish() override {
        station_.turns = *entered_;
        station_.mismatches = *entered_ - this->token_;
        station_.cpu = -1;
    }
    std::span<const Station> stations() const override { return {&station_, 1}; }
    void add_counts(Counts& counts) const override {
        if constexpr (requires { creator_.add_counts(counts); }) creator_.add_counts(counts);
    }

private:
    Creator creator_;
    std::uint64_t* const entered_;
    Station station_{};
};

}  // namespace probe
