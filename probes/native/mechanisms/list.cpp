// The list of mechanisms, list.inc or, on macOS and Windows, list_macos.inc and list_windows.inc: one line each, sorted
// by id; CMake also takes the source files from it. An ABSENT one has no source of its own: it stands in the system's
// absent_*.cpp with the reason.
#include "mechanisms/list.h"

#include <array>

namespace probe {

#define ABSENT(name) MECHANISM(name)
#define MECHANISM(name) extern const Entry name;
#include PROBE_LIST
#undef MECHANISM

std::span<const Entry* const> all_entries() {
#define MECHANISM(name) &name,  // NOLINT(bugprone-macro-parentheses)
    static constexpr std::array entries = {
#include PROBE_LIST
    };
#undef MECHANISM
#undef ABSENT
    return entries;
}

}  // namespace probe
