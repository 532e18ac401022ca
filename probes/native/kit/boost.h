// What the mechanisms that need Boost say when the probe was built without it.
#pragma once

#include "kit/mechanism.h"

namespace probe {

inline Unavailable boost_missing(const char* library) {
    return {"missing_library", std::string(library) + " was not found when this probe was built",
            "Boost.Context and Boost.Fiber (Debian: libboost-fiber-dev; Fedora: boost-devel boost-static), then build the probe again"};
}

// `differ` sets the sticky inexact flag in context 0 alone; session.cpp does it.
inline Parameter fpu_state_parameter() { return {"fpu_state", "equal", {"equal", "differ"}}; }

}  // namespace probe
