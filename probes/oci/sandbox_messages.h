// What the launcher outside and a context inside a sandbox say to each other, over the socket that is the context's
// standard error.
#pragma once

#include <cstdint>

namespace probe {

// To context 0, which answers each. End of file: everybody ends.
struct Order {
    static constexpr std::uint64_t report =
        ~std::uint64_t{0};  // a lap on which every context sends an answer of its own
    std::uint64_t laps;     // 0: what does your clock say?
};

struct Answer {
    static constexpr std::uint64_t magic = 0x53'57'43'4f'53'54'01'01;  // tells an answer from a runtime's words
    std::uint64_t mark = magic;
    std::uint64_t nanoseconds = 0;  // that the laps took, by the sandbox's clock
    std::uint64_t clock = 0;        // what it says now
    std::uint64_t token = 0;        // the sequence number that context 0 holds
    std::uint64_t turns = 0;        // of this context; at a report
    std::uint64_t mismatches = 0;
};

}  // namespace probe
