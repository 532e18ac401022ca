// What a probe is asked to do.
#pragma once

#include <span>

#include "kit/plan/mechanism.h"

namespace probe {

// What `hello` says of the program.
struct Build {
    const char* id;
    const char* version;
    const char* compiler;
    const char* flags;
};

// Carries out `describe` or `run`, the first of the arguments, for these mechanisms, sorted by id. The exit status.
int carry_out(const Build& build, std::span<const Entry* const> entries, std::span<char*> arguments);

}  // namespace probe
