// The native probe with one mechanism, which is a mistake: negative MISTAKE describe|run [key=value ...]
#include <array>
#include <cstdio>
#include <string_view>
#include <utility>

#include "kit/plan/session.h"
#include "negative/mistakes.h"

namespace probe {
namespace {

const std::array<std::pair<std::string_view, const Entry*>, 20> mistakes = {{
    {"clipped-lateness", &clipped_lateness},
    {"clone-vm", &clone_vm},
    {"doubled-contexts", &doubled_contexts},
    {"from-wake-before", &from_wake_before},
    {"half-gap", &half_gap},
    {"half-spun", &half_spun},
    {"invented-lateness", &invented_lateness},
    {"no-wall", &no_wall},
    {"one-cpu", &one_cpu},
    {"other-class", &other_class},
    {"processes-for-threads", &processes_for_threads},
    {"resolved-handle", &resolved_handle},
    {"skipped-periods", &skipped_periods},
    {"skipped-switch", &skipped_switch},
    {"spun-timer", &spun_timer},
    {"stopped-hogs", &stopped_hogs},
    {"two-of-many", &two_of_many},
    {"undone-work", &undone_work},
    {"unasked-epoll", &unasked_epoll},
    {"unpolled-ring", &unpolled_ring},
}};

}  // namespace
}  // namespace probe

int main(int argc, char** argv) {
    constexpr probe::Build build{PROBE_ID, PROBE_VERSION, PROBE_COMPILER, PROBE_FLAGS};
    for (const auto& [name, entry] : probe::mistakes) {
        if (argc < 3 || name != argv[1]) continue;
        return probe::carry_out(build, {&entry, 1}, std::span(argv, static_cast<std::size_t>(argc)).subspan(2));
    }
    std::puts("usage: negative MISTAKE describe|run [key=value ...]");
    return 2;
}
