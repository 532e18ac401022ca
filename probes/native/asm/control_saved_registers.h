// The callee of control/saved-registers: what stack_switch saves and loads, on one stack.
#pragma once

#include <cstdint>

// Returns token + 1: the sum proves that every call took place.
extern "C" std::uint64_t switchcost_control_saving_callee(std::uint64_t token);
