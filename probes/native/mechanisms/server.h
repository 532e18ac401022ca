// Experiment serve: requests are due at times that are drawn beforehand, and a task works for each in turn. It waits
// and is timed as in experiment wakeup.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "kit/experiments/wakeup.h"
#include "kit/ring/chain.h"

namespace probe {

inline std::vector<Parameter> serve_parameters() {
    return {{"load", {"20", "50", "80", "90", "95"}}, period_parameter(), {"until", {"finished", "begun"}}};
}

// A chain of steps of which so many take a time.
class Chain {
public:
    static double ns_per_step() {
        static constexpr std::uint64_t steps = 1'000'000;
        double fastest = 1e9;
        for (int i = 0; i < 9; ++i) {
            const std::uint64_t begin = clock_now();
            multiply(1, steps);
            fastest = std::min(fastest, static_cast<double>(clock_now() - begin) / steps);
        }
        return fastest;
    }
    // One copy of the code: a loop takes as long as where it lies lets it.
    [[gnu::noinline]] static std::uint64_t multiply(std::uint64_t product, std::uint64_t steps) {
        return chain::multiply(product, steps);
    }
};

// Requests arrive as a Poisson process does, and each takes the same work: M/D/1. It is the distances of `times` that
// are drawn; as many as a start has take its periods together.
template <class Work = Chain>
class Server : public OwnTimer {
public:
    explicit Server(const Plan& plan)
        : OwnTimer(plan),
          steps_(static_cast<std::uint64_t>(static_cast<double>(plan.number("period") * 10 * plan.number("load")) /
                                            Chain::ns_per_step())),
          finished_(plan.text("until") == "finished") {}

    static std::vector<std::uint64_t> times(const Plan& plan, std::uint64_t period) {
        const std::uint64_t batch = plan.batch_units != 0 ? plan.batch_units : times_in(plan.batch_ns, period);
        std::vector<double> walk(batch * (plan.batches + plan.warmup_batches) + 1);
        for (std::size_t i = 0; i + 1 < walk.size(); ++i)
            walk[i + 1] = walk[i] - std::log1p(-static_cast<double>(drawn(plan.seed, i + 1) >> 11) * 0x1p-53);
        const double scale = static_cast<double>((walk.size() - 1) * period) / walk.back();
        walk.pop_back();
        std::vector<std::uint64_t> times;
        for (const double at : walk) times.push_back(static_cast<std::uint64_t>(at * scale));
        return times;
    }

    void wait(const Beat& beat, std::uint64_t due) const { sleep_until(beat.at(due)); }
    std::uint64_t served(const Beat& beat, std::uint64_t due) {
        const std::uint64_t begun = OwnTimer::served(beat, due);
        if (begun == 0) return 0;
        product_ = Work::multiply(product_, steps_);
        ++works_;
        return finished_ ? clock_now() : begun;
    }

    void counting(bool on) { counted_ = works_ - (on ? 0 : counted_); }
    void add_counts(Counts& counts) const {
        counts.emplace_back("works", static_cast<std::int64_t>(counted_));
        counts.emplace_back("work_missing", product_ == chain::after(steps_ * works_) ? 0 : 1);
    }

private:
    const std::uint64_t steps_;  // of one request
    const bool finished_;
    std::uint64_t product_ = 1;
    std::uint64_t works_ = 0;
    std::uint64_t counted_ = 0;
};

}  // namespace probe
