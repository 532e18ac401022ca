// switchcost's native probe. It knows PROTOCOL.md and nothing else of the project.
#include <cstdio>
#include <string_view>

#include "kit/plan/session.h"

int main(int argc, char** argv) {
    const std::string_view verb = argc > 1 ? argv[1] : "";
    if (verb == "describe") return probe::describe(argc - 2, argv + 2);
    if (verb == "run") return probe::run(argc - 2, argv + 2);
    std::puts(
        "A probe of switchcost; the host starts it. By hand:\n"
        "  probe describe [report_fd=N]\n"
        "  probe run $(probe describe | probes/words mechanism=FAMILY/NAME [key=value ...])\n"
        "Keys: PROTOCOL.md, section 1; parameters: describe, or mechanisms/FAMILY/NAME.toml.");
    return 2;
}
