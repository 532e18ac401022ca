// Where the hops that were timed led. Nothing of it is a pass of its own: a context that is a task compares the number
// of its CPU with the last one at each of its turns, and keeps a list of the changes in memory of its own. From these
// the CPUs of all hops follow.
#pragma once

#include <cstdint>
#include <set>

#include "kit/ring/shared.h"

namespace probe {

// What came of a number of hops, in the order of their sequence numbers.
struct Hops {
    std::uint64_t count = 0;
    std::uint64_t same_cpu = 0;     // those whose two contexts ran on one CPU
    std::uint64_t same_thread = 0;  // those whose two contexts ran on one thread
    std::uint64_t migrations = 0;   // changes of CPU of a context between two of its turns
    const char* why = nullptr;      // not all hops are covered, because of this
    std::set<int> cpus;
};

struct CpuChange {
    std::uint64_t sequence;  // of the token with which the context found itself there
    std::int32_t cpu;
};

// Of one context, which alone writes it, and only while it has the token: a cache line of its own, written when the CPU
// has changed.
struct alignas(64) CpuTrail {
    std::int32_t first;  // at begin()
    std::int32_t cpu;    // now
    std::uint32_t count;
    std::uint64_t lost;  // sequence number of the first change for which there was no room; 0: none
};

// Of all contexts of a ring, in memory that forked processes share.
class CpuTrails {
public:
    explicit CpuTrails(std::uint32_t contexts);

    // To be called by the driver while it holds the token: the hops behind sequence number `from` are the first that
    // count.
    void begin(std::uint64_t from);
    // The hops up to `to`.
    Hops examine(std::uint64_t to) const;

    // Called by a context. Rare, and kept out of the loops.
    [[gnu::cold, gnu::noinline]] void note(std::uint32_t context, std::uint64_t sequence, std::int32_t cpu) noexcept;

private:
    std::uint32_t contexts_;
    std::uint32_t limit_;  // changes kept of one context
    std::uint64_t from_ = 0;
    SharedArray<CpuTrail> trails_;
    SharedArray<CpuChange> changes_;
};

}  // namespace probe
