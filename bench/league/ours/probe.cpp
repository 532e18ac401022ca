// For switchcost: the work as a control of a probe of one's own; a unit is one call.
#include "work.h"

#include "kit/own.h"
#include "kit/ring/solo.h"

namespace {

std::uint64_t unit(std::uint64_t token) {
    std::uint64_t seed = league_work(token);
    asm volatile("" : "+r"(seed));
    return token + 1;
}

const probe::Entry entry{"control/work", probe::Shape::control, {"switch"}, {}, &probe::make_call_control<&unit>};

}  // namespace

int main(int argc, char** argv) {
    const probe::Entry* const entries[] = {&entry};
    return probe::carry_out({"league", "1", __VERSION__, "-O2"}, entries,
                            std::span(argv, static_cast<std::size_t>(argc)).subspan(1));
}
