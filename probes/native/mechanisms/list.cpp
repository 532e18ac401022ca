// The list of mechanisms, list.inc or, on macOS and Windows, list_macos.inc and list_windows.inc: one line each, sorted by id; CMake takes the
// source files from it, too. An ABSENT one has no source of its own: it stands in the system's absent_*.cpp with the reason.
#include <algorithm>
#include <array>

#include "kit/mechanism.h"

namespace probe {

#define ABSENT(name) MECHANISM(name)
#define MECHANISM(name) extern const Entry name;
#include PROBE_LIST
#undef MECHANISM

std::span<const Entry* const> all_entries() {
#define MECHANISM(name) &name,
    static constexpr std::array entries = {
#include PROBE_LIST
    };
#undef MECHANISM
#undef ABSENT
    return entries;
}

const Entry* find_entry(std::string_view id) {
    for (const Entry* entry : all_entries()) {
        if (entry->id == id) return entry;
    }
    return nullptr;
}

bool Entry::has_experiment(std::string_view name) const {
    return std::any_of(experiments.begin(), experiments.end(), [&](const char* own) { return name == own; });
}

const Parameter* Entry::find_parameter(std::string_view name) const {
    for (const Parameter& parameter : parameters) {
        if (name == parameter.name) return &parameter;
    }
    return nullptr;
}

}  // namespace probe
