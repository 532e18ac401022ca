// The native probe with what needs oneTBB alone.
#include "kit/plan/session.h"

namespace probe {
extern const Entry executor_onetbb;
}

int main(int argc, char** argv) {
    constexpr probe::Build build{PROBE_ID "-tbb", PROBE_VERSION, PROBE_COMPILER, PROBE_FLAGS};
    const probe::Entry* const entry = &probe::executor_onetbb;
    return probe::carry_out(build, {&entry, 1}, std::span(argv, static_cast<std::size_t>(argc)).subspan(1));
}
