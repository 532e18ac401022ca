// The skeleton of workloads in which the driver alone decides when a unit is done: controls, create, message.
#pragma once

#include <cstdint>

#include "kit/arch.h"
#include "kit/mechanism.h"
#include "kit/shared.h"

namespace probe {

// `Unit` does one unit and returns the sequence number after it: unit(n) → n + 1 when the unit really took place.
template <Mode mode, class Unit>
[[gnu::always_inline]] inline std::uint64_t repeat_units(std::uint64_t units, std::uint64_t token, Histogram* histogram, Unit unit) {
    for (; units != 0; --units) {
        if constexpr (mode == Mode::each) {
            const std::uint64_t begin = arch::counter_before();
            token = unit(token);
            const std::uint64_t end = arch::counter_after();
            const std::uint64_t first = arch::counter_before();
            const std::uint64_t second = arch::counter_after();
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
    Solo() : histogram_(mode == Mode::each ? 1 : 0) {
        if constexpr (mode == Mode::each) histogram_[0].clear();
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

}  // namespace probe
