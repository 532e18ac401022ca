// switchcost's native probe. It knows PROTOCOL.md and nothing else of the project.
#include "kit/plan/session.h"
#include "mechanisms/list.h"

int main(int argc, char** argv) {
    constexpr probe::Build build{PROBE_ID, PROBE_VERSION, PROBE_COMPILER, PROBE_FLAGS};
    return probe::carry_out(build, probe::all_entries(), std::span(argv, static_cast<std::size_t>(argc)).subspan(1));
}
