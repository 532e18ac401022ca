#include "kit/parameters/layout.h"

#include <numeric>

#include "kit/plan/mechanism.h"

namespace probe {

std::uint64_t golden_step(std::uint64_t count) {
    std::uint64_t step = count * 618 / 1000 + 1;
    while (std::gcd(step, count) != 1) ++step;
    return count == 1 ? 1 : step % count;
}

Layout::Layout(const Plan& plan, std::uint32_t count) : count_(count == 0 ? 1 : count), step_(1) {
    if (plan.parameters.contains("layout") && plan.text("layout") == "scattered") step_ = golden_step(count_);
}

std::vector<std::uint32_t> Layout::by_place() const {
    std::vector<std::uint32_t> contexts(count_);
    for (std::uint32_t i = 0; i < count_; ++i) contexts[place(i)] = i;
    return contexts;
}

Parameter layout_parameter() {
    Parameter parameter{"layout", {"in_order", "scattered"}};
    parameter.count = [](const Counting& counting, Counts& counts) {
        if (!counting.plan.asked->ring) return;
        counts.emplace_back("far_hops", static_cast<std::int64_t>(counting.workload.far_steps() *
                                                                  (counting.units / counting.plan.ring)));
    };
    return parameter;
}

}  // namespace probe
