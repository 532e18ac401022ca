#include "kit/experiments/list.h"

#include <algorithm>
#include <array>
#include <string>

#include "kit/experiments/count.h"
#include "kit/plan/failure.h"

namespace probe {

const Experiment& find_experiment(std::string_view name) {
    static constexpr std::array all = {
        Experiment{"switch", true, Live::throughout, &measure_batches},
        Experiment{"create", false, Live::unit, &measure_batches},
        Experiment{"message", false, Live::throughout, &measure_batches},
        Experiment{"footprint", false, Live::batch, &measure_footprint},
        Experiment{"wakeup", false, Live::throughout, &measure_batches},
        Experiment{"contend", false, Live::throughout, &measure_batches},
        Experiment{"submit", false, Live::throughout, &measure_batches},
        Experiment{"preempt", false, Live::throughout, &measure_batches},
        Experiment{"rotate", false, Live::throughout, &measure_batches},
        Experiment{"serve", false, Live::throughout, &measure_batches},
        Experiment{"gap", false, Live::throughout, &measure_batches},
        Experiment{"count", true, Live::throughout, &measure_batches, &counted},
    };
    const auto found = std::ranges::find(all, name, &Experiment::name);
    if (found == all.end()) throw failed("self_check_failed", "the kit has no experiment " + std::string(name));
    return *found;
}

}  // namespace probe
