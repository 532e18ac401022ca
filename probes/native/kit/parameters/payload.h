// Bytes of a message (parameter `payload` of experiment message).
#pragma once

#include "kit/plan/mechanism.h"

namespace probe {

inline Parameter payload_parameter() { return {"payload", {}}; }

}  // namespace probe
