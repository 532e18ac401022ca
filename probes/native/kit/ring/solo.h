// The skeleton of workloads in which the driver alone decides when a unit is done: controls, create, message.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

#include "kit/plan/mechanism.h"
#include "kit/ring/reading.h"
#include "kit/ring/shared.h"

namespace probe {

// `Unit` does one unit and returns the sequence number after it: unit(n) → n + 1 when the unit really took place.
template <Mode mode, class Unit>
[[gnu::always_inline]] inline std::uint64_t repeat_units(std::uint64_t units, std::uint64_t token, Histogram* histogram,
                                                         Unit unit) {
    for (; units != 0; --units) {
        if constexpr (reads_counter(mode)) {
            const std::uint64_t begin = reading_before<mode>();
            token = unit(token);
            const std::uint64_t end = reading_after<mode>();
            const std::uint64_t first = reading_before<mode>();
            const std::uint64_t second = reading_after<mode>();
            histogram->record(end - begin, second - first);
        } else {
            token = unit(token);
        }
    }
    return token;
}

template <Mode mode>
class Solo : public Workload {
public:
    Solo() : histogram_(reads_counter(mode) ? 1 : 0) {
        if constexpr (reads_counter(mode)) histogram_[0].clear();
    }
    std::uint64_t token() const override { return token_; }
    std::uint64_t mismatches() const override { return mismatches_; }
    Histogram* histogram() override { return histogram_.data(); }

protected:
    template <class Unit>
    [[gnu::always_inline]] void repeat(std::uint64_t units, Unit unit) {
        token_ = repeat_units<mode>(units, token_, histogram_.data(), unit);
    }
    std::uint64_t token_ = 0;
    std::uint64_t mismatches_ = 0;

private:
    SharedArray<Histogram> histogram_;
};

// A control with nothing but a unit: a function object, made of the plan.
template <Mode mode, class Unit>
class Control final : public Solo<mode> {
public:
    explicit Control(const Plan& plan) : unit_{plan} {}
    void run(std::uint64_t units) override {
        this->repeat(units, [this](std::uint64_t token) __attribute__((always_inline)) { return unit_(token); });
    }

private:
    [[no_unique_address]] Unit unit_;
};

// A control that calls a routine, which the compiler must not know.
template <Mode mode, std::uint64_t (*routine)(std::uint64_t)>
class CallControl final : public Solo<mode> {
public:
    explicit CallControl(const Plan&) {}
    void run(std::uint64_t units) override {
        std::uint64_t (*callee)(std::uint64_t) = routine;
        asm volatile("" : "+r"(callee));
        this->repeat(units, [callee](std::uint64_t token) __attribute__((always_inline)) { return callee(token); });
    }
};

template <class Unit>
std::unique_ptr<Workload> make_control(const Plan& plan, Mode mode) {
    if (reads_counter(mode)) return std::make_unique<Control<Mode::each, Unit>>(plan);
    return std::make_unique<Control<Mode::batch, Unit>>(plan);
}

template <std::uint64_t (*routine)(std::uint64_t)>
std::unique_ptr<Workload> make_call_control(const Plan& plan, Mode mode) {
    if (reads_counter(mode)) return std::make_unique<CallControl<Mode::each, routine>>(plan);
    return std::make_unique<CallControl<Mode::batch, routine>>(plan);
}

}  // namespace probe
