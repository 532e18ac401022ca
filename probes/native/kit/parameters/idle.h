// What a CPU does while its context waits (parameter `idle`): what keeps the interrupt of a wake-up apart from the way
// out of idle.
#pragma once

#include <cstdint>
#include <memory>

#include "kit/plan/mechanism.h"
#include "kit/plan/plan.h"

namespace probe {

inline Parameter idle_parameter() { return {"idle", {"system", "poll", "busy"}}; }

// Holds the plan's CPUs in that state as long as it lives.
//
//   system  as the kernel does: mostly a halt, out of which an interrupt wakes the CPU
//   poll    the idle loop polls for work, so that a wake-up needs no interrupt: /dev/cpu_dma_latency is held at 0
//   busy    a thread of the lowest class (SCHED_IDLE) runs on each CPU, so that a wake-up has to interrupt it, but
//   never wakes the CPU
class IdleCpus {
public:
    // Throws Failure unsupported where the plan's contexts share a CPU, or the kernel refuses.
    explicit IdleCpus(const Plan& plan);
    IdleCpus(const IdleCpus&) = delete;
    IdleCpus& operator=(const IdleCpus&) = delete;
    ~IdleCpus();

    // What shows that the CPUs were in that state; begins at construction.
    void add_counts(Counts& counts) const;

private:
    class Spinners;
    class Polling;
    std::unique_ptr<Spinners> spinners_;
    std::unique_ptr<Polling> polling_;
};

}  // namespace probe
