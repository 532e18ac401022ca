// What the mechanisms that need Boost say when the probe was built without it.
#pragma once

#include "kit/plan/mechanism.h"

namespace probe {

inline Unavailable boost_missing(const char* library) {
    return {"missing_library", std::string(library) + " was not found when this probe was built",
            "Boost.Context and Boost.Fiber (Debian: libboost-fiber-dev; Fedora: boost-devel boost-static), then build "
            "the probe again"};
}

}  // namespace probe
