// State of the vector registers that a task leaves behind at each switch (parameter `simd`).
#pragma once

#include <cstdint>
#include <string>

#include "kit/plan/failure.h"
#include "kit/plan/mechanism.h"

namespace probe {

inline Parameter simd_parameter() { return {"simd", {"clean", "sse", "avx", "avx512"}}; }

// Writes all vector registers of the kind that the plan asks for; null: the plan leaves them alone. Throws Failure
// where this CPU or kernel lacks them.
void (*dirty_registers(const Plan& plan))();

// Whether the CPU says that the calling task's registers of that kind are in use; false also where it does not say.
bool registers_in_use(const Plan& plan);

// A medium whose contexts do that before they hand the token on.
template <class Medium>
class DirtyMedium {
    struct alignas(64) Tally {
        std::uint64_t written;
        std::uint64_t in_use;  // 1: seen so by its context, right after it wrote them
    };

public:
    using Token = typename Medium::Token;

    struct Port {
        typename Medium::Port port;
        void (*dirty)();
        Tally* tally;

        [[gnu::always_inline]] void send(Token token) {
            dirty();
            ++tally->written;
            port.send(token);
        }
        [[gnu::always_inline]] Token receive() { return port.receive(); }
    };

    explicit DirtyMedium(const Plan& plan)
        : medium_(plan.contexts), plan_(&plan), dirty_(dirty_registers(plan)), tallies_(plan.contexts) {}

    Port port(std::uint32_t context) { return {medium_.port(context), dirty_, looked(context)}; }
    void before_fork(std::uint32_t context) { medium_.before_fork(context); }
    void after_fork(std::uint32_t context) { medium_.after_fork(context); }
    Port in_child(std::uint32_t context) { return {medium_.in_child(context), dirty_, looked(context)}; }

    void counting(bool on) {
        std::uint64_t sum = 0;
        for (std::uint32_t i = 0; i < tallies_.size(); ++i) sum += tallies_[i].written;
        written_ = on ? sum : sum - written_;
    }
    void add_counts(Counts& counts) const {
        std::uint64_t in_use = 0;
        for (std::uint32_t i = 0; i < tallies_.size(); ++i) in_use += tallies_.data()[i].in_use;
        counts.emplace_back("registers_written", static_cast<std::int64_t>(written_));
        counts.emplace_back("registers_in_use", static_cast<std::int64_t>(in_use));
    }

private:
    // A port is made by the task that uses it.
    Tally* looked(std::uint32_t context) {
        dirty_();
        tallies_[context].in_use = registers_in_use(*plan_);
        return &tallies_[context];
    }

    Medium medium_;
    const Plan* plan_;  // outlives the workload
    void (*dirty_)();
    SharedArray<Tally> tallies_;
    std::uint64_t written_ = 0;
};

}  // namespace probe
