// The list of mechanisms (list.cpp).
#pragma once

#include "kit/plan/mechanism.h"

namespace probe {

// Sorted by id.
std::span<const Entry* const> all_entries();

}  // namespace probe
