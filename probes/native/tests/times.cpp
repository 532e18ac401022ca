// Times that are drawn: the period on average, none right after another, and at every phase of the kernel's tick.
#include <algorithm>
#include <array>
#include <cstdio>

#include "kit/experiments/wakeup.h"

namespace probe {
namespace {

// Of a thousand times, how many fall into each tenth of a tick.
std::array<int, 10> phases(const Beat& beat, std::uint64_t tick) {
    std::array<int, 10> counts{};
    for (std::uint64_t number = 0; number < 1000; ++number) ++counts[beat.at(number) % tick * 10 / tick];
    return counts;
}

bool right(std::uint64_t seed, std::uint64_t period) {
    Beat beat;
    beat.first = 12'345'678;
    beat.period = period;
    beat.drawn = drawn_times(seed, period);
    bool good = beat.at(times_drawn) == beat.first + times_drawn * period;
    for (std::uint64_t number = 0; number < 3 * times_drawn; ++number) {
        const std::uint64_t gap = beat.at(number + 1) - beat.at(number);
        good &= 2 * gap > period && 2 * gap < 3 * period;
    }
    // A grid of whole ticks has one phase; drawn times have each tenth of them, half as often as even ones at least.
    const std::uint64_t tick = period;
    const auto drawn = phases(beat, tick);
    Beat grid;
    grid.first = beat.first;
    grid.period = period;
    const auto of_grid = phases(grid, tick);
    return good && std::ranges::min(drawn) >= 50 && std::ranges::max(of_grid) == 1000;
}

}  // namespace
}  // namespace probe

int main() {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        if (probe::right(seed, 1'000'000) && probe::right(seed, 500'000)) continue;
        std::printf("drawn times of seed %llu are wrong\n", static_cast<unsigned long long>(seed));
        return 1;
    }
    return 0;
}
