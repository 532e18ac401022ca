// Containers made by the OCI runtime that this probe is named after (OCI_RUNTIME, by the build).
#pragma once

#include <optional>

#include "kit/mechanism.h"

namespace probe {

// Of Entry::check: is the runtime in PATH?
std::optional<Unavailable> runtime_missing();

}  // namespace probe
