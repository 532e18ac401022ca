// The two readings of the cycle counter that an interval of timing=each is made of.
#pragma once

#include <cstdint>

#include "kit/os/arch.h"
#include "kit/plan/mechanism.h"

namespace probe {

template <Mode mode>
[[gnu::always_inline]] inline std::uint64_t reading_before() {
    if constexpr (mode == Mode::each_bare) {
        return arch::counter_bare();
    } else {
        return arch::counter_before();
    }
}

template <Mode mode>
[[gnu::always_inline]] inline std::uint64_t reading_after() {
    if constexpr (mode == Mode::each_bare) {
        return arch::counter_bare();
    } else {
        return arch::counter_after();
    }
}

}  // namespace probe
