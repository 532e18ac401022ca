// The callee of control/call, in assembly so that no compiler's prologue is measured with it.
#pragma once

#include <cstdint>

// Returns token + 1: the sum proves that every call took place.
extern "C" std::uint64_t switchcost_control_callee(std::uint64_t token);
