// thread/server: a thread serves requests that are due at times drawn beforehand (clock_nanosleep while none waits).
#include "mechanisms/server.h"

namespace probe {
namespace {

std::unique_ptr<Workload> make(const Plan& plan, Mode) { return std::make_unique<Wakeup<Server<>>>(plan); }

}  // namespace

extern const Entry thread_server{"thread/server", Shape::tasks, {"serve"}, serve_parameters(), &make};

}  // namespace probe
