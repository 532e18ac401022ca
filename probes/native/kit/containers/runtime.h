// Another maker of containers than this probe itself.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "kit/containers/cgroups.h"
#include "kit/plan/mechanism.h"

namespace probe {

// An OCI runtime: it makes a container round a process that only waits, and contexts enter it as the runtime's `exec`
// would.
class ContainerRuntime {
public:
    virtual ~ContainerRuntime() = default;

    virtual int make(std::uint32_t container) = 0;  // a pidfd of the waiting process; throws Failure
    virtual pid_t enter(int pidfd) = 0;             // like fork, with the child in the container; -1: errno says why
    virtual void forget() = 0;                      // in a context: what the launcher must clean up is not its own
    virtual void end() = 0;                         // in the launcher, when the contexts are gone
};

// Both are defined once by each probe. Of Entry::check: can its runtime be had?
std::optional<Unavailable> runtime_missing();

// Null: the probe makes its containers itself.
std::unique_ptr<ContainerRuntime> make_container_runtime(const Plan& plan, const ContainerCgroups& cgroups);

}  // namespace probe
