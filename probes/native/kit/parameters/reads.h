// Whether the counter of timing=each is read between fences (parameter `reads`).
#pragma once

#include "kit/plan/mechanism.h"

namespace probe {

inline Parameter reads_parameter() { return {"reads", {"fenced", "bare"}}; }

}  // namespace probe
