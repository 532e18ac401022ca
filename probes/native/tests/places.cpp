// Where in its page a block lies that is taken behind those of `heap_offset`: places SEED VALUE EXPERIMENT prints it.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "kit/parameters/heap_offset.h"

int main(int, char** words) {
    probe::Plan plan;
    plan.seed = std::strtoull(words[1], nullptr, 10);
    plan.parameters["heap_offset"] = words[2];
    const probe::Experiment asked{words[3], words[3] == std::string("switch"), probe::Live::throughout, nullptr};
    plan.asked = &asked;
    const probe::Blocks kept = probe::heap_blocks(plan);
    const auto frame = std::make_unique<char[]>(130);
    std::printf("%d\n", static_cast<int>(reinterpret_cast<std::uintptr_t>(frame.get()) % 4096));
}
