// Bytes of a message (parameter `payload` of experiment message).
#pragma once

#include "kit/plan/mechanism.h"

namespace probe {

inline Parameter payload_parameter() { return {"payload", "8", {}, 1, 1048576}; }

}  // namespace probe
