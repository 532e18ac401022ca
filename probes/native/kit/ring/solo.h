// The skeleton of workloads in which the driver alone decides when a unit is done: controls, create, message.
#pragma once

#include <cstdint>

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

}  // namespace probe
