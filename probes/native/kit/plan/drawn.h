// What a start draws from its seed, which is another in every start.
#pragma once

#include <cstdint>
#include <vector>

namespace probe {

// Number 1, 2 … of a seed, by SplitMix64: seeds of neighbouring starts have nothing in common.
constexpr std::uint64_t drawn(std::uint64_t seed, std::uint64_t number) {
    seed += number * 0x9E3779B97F4A7C15;
    seed = (seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9;
    seed = (seed ^ (seed >> 27)) * 0x94D049BB133111EB;
    return seed ^ (seed >> 31);
}

// Distances between times that are drawn: three to seven fifths of a period, and the period on average over so many
// times. No two are so close that one wake-up would serve both.
inline constexpr std::size_t times_drawn = 4096;
inline std::vector<std::uint64_t> drawn_times(std::uint64_t seed, std::uint64_t period) {
    std::vector<double> walk(times_drawn + 1);
    for (std::size_t i = 0; i < times_drawn; ++i)
        walk[i + 1] = walk[i] + 0.6 + 0.8 * static_cast<double>(drawn(seed, i + 1) >> 11) * 0x1p-53;
    std::vector<std::uint64_t> times(times_drawn);
    const double scale = static_cast<double>(times_drawn) / walk.back() * static_cast<double>(period);
    for (std::size_t i = 0; i < times_drawn; ++i) times[i] = static_cast<std::uint64_t>(walk[i] * scale);
    return times;
}

// When time number k is due.
struct Beat {
    std::uint64_t first = 0;
    std::uint64_t period = 0;
    std::vector<std::uint64_t> drawn;  // where they are: of so many times, from the first on; then again
    std::uint64_t at(std::uint64_t number) const {
        if (drawn.empty()) return first + number * period;
        const std::uint64_t in_round = number % drawn.size();
        return first + (number - in_round) * period + drawn[in_round];
    }
};

}  // namespace probe
