// Histogram of constant size for timing=each, log-linear as in HdrHistogram: values below 2^bits have a bucket each,
// above that every power of two is cut into 2^bits buckets. Recording is a shift and three additions; nothing is
// rounded in sum, min and max.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace probe {

struct Histogram {
    static constexpr int bits = 7;  // a bucket is at most 1/128 of its value wide
    static constexpr std::size_t per_octave = std::size_t{1} << bits;
    static constexpr std::size_t bucket_count = (64 - bits + 1) * per_octave;

    std::uint64_t sum, min, max, count;
    std::uint64_t pair_sum, pair_count;
    std::uint64_t negative;  // intervals below zero, which stand nowhere else
    std::uint64_t buckets[bucket_count];

    static constexpr std::size_t bucket_of(std::uint64_t value) {
        if (value < per_octave) return value;
        const int shift = std::bit_width(value) - 1 - bits;
        return (static_cast<std::size_t>(shift) << bits) + (value >> shift);
    }

    static constexpr std::uint64_t lower_edge(std::size_t bucket) {
        if (bucket < 2 * per_octave) return bucket;
        const std::size_t shift = (bucket >> bits) - 1;
        return std::uint64_t{per_octave + (bucket & (per_octave - 1))} << shift;
    }

    void record(std::uint64_t interval, std::uint64_t pair) {
        if (static_cast<std::int64_t>(interval | pair) < 0) [[unlikely]] {
            ++negative;
            return;
        }
        sum += interval;
        if (interval < min) min = interval;
        if (interval > max) max = interval;
        ++count;
        pair_sum += pair;
        ++pair_count;
        ++buckets[bucket_of(interval)];
    }

    void clear() {
        sum = max = count = pair_sum = pair_count = negative = 0;
        min = ~std::uint64_t{0};
        for (std::uint64_t& bucket : buckets) bucket = 0;
    }
};

static_assert(Histogram::lower_edge(Histogram::bucket_of(127)) == 127);
static_assert(Histogram::lower_edge(Histogram::bucket_of(255)) == 255);
static_assert(Histogram::lower_edge(Histogram::bucket_of(256)) == 256);
static_assert(Histogram::lower_edge(Histogram::bucket_of(257)) == 256);
static_assert(Histogram::lower_edge(Histogram::bucket_of(1000)) == 1000);
static_assert(Histogram::bucket_of(~std::uint64_t{0}) == Histogram::bucket_count - 1);

}  // namespace probe
