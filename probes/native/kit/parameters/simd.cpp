#include "kit/parameters/simd.h"

#include <algorithm>

#include "kit/os/arch.h"

namespace probe {
namespace {

const arch::VectorState& state_of(const Plan& plan) {
    const std::string& name = plan.text("simd");
    const auto state = std::ranges::find(arch::vector_states, name, &arch::VectorState::name);
    if (state == std::ranges::end(arch::vector_states) || !state->is_here())
        throw unsupported("unsupported_here", "simd=" + name + ": this CPU or kernel has no such registers");
    return *state;
}

}  // namespace

void (*dirty_registers(const Plan& plan))() { return state_of(plan).dirty; }

bool registers_in_use(const Plan& plan) { return (arch::vector_state_in_use() & state_of(plan).bits) != 0; }

}  // namespace probe
