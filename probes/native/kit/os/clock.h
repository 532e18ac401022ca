// The clock of the batches: CLOCK_MONOTONIC in nanoseconds, on Linux read through the vDSO. macOS has that one in
// microseconds only.
#pragma once

#include <time.h>

#include <cerrno>
#include <cstdint>

namespace probe {

#if defined(_WIN32)
inline constexpr const char* clock_name = "QueryPerformanceCounter in ns (CLOCK_MONOTONIC of winpthreads)";
#elif defined(__APPLE__)
inline constexpr const char* clock_name = "CLOCK_UPTIME_RAW";
#else
inline constexpr const char* clock_name = "CLOCK_MONOTONIC";
#endif
inline constexpr std::uint64_t clock_ticks_per_second = 1'000'000'000;

[[gnu::always_inline]] inline std::uint64_t clock_now() {
#if defined(__APPLE__)
    return clock_gettime_nsec_np(CLOCK_UPTIME_RAW);
#else
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
#endif
}

inline timespec timespec_of(std::uint64_t ns) {
    return {static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
}

inline void sleep_until(std::uint64_t time) {
#ifdef TIMER_ABSTIME
    const timespec until = timespec_of(time);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {}
#else  // macOS sleeps for a time, not until one
    for (std::uint64_t now = clock_now(); now < time; now = clock_now()) {
        const timespec left = timespec_of(time - now);
        nanosleep(&left, nullptr);
    }
#endif
}

// Ticks one read costs: the lowest of several mean costs, rounded to whole ticks.
inline std::uint64_t clock_read_cost() {
    constexpr std::uint64_t reads = 256;
    std::uint64_t lowest = ~std::uint64_t{0};
    for (int attempt = 0; attempt < 8; ++attempt) {
        const std::uint64_t begin = clock_now();
        std::uint64_t end = begin;
        for (std::uint64_t i = 0; i < reads; ++i) end = clock_now();
        if (end - begin < lowest) lowest = end - begin;
    }
    return (lowest + reads / 2) / reads;
}

}  // namespace probe
