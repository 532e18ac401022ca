// The program of a container runtime that this probe is named after (OCI_RUNTIME, by the build): finding it, what it
// needs, what it says.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "kit/plan/failure.h"
#include "kit/plan/mechanism.h"

namespace probe {

inline const std::string runtime_name = OCI_RUNTIME;

std::string find_runtime();  // in PATH and where Debian keeps programs of the superuser; empty: not there

// The last line of what a runtime said, ASCII only.
std::string last_words(const std::string& said);

// Below which a limit is likelier the reason than whatever a runtime says; 0: none is.
struct Few {
    std::uint64_t tasks;
    std::uint64_t descriptors;
};

// The limit of the session that is so low. RLIMIT_NPROC does not bind the superuser.
std::optional<Failure> low_limit(std::uint32_t container, Few few);

// A container that the runtime could not make: the limit behind its words where they or a low limit tell, else those
// words and the cure.
Failure runtime_refusal(std::uint32_t container, const std::string& words, Few few, const char* cure);

}  // namespace probe
