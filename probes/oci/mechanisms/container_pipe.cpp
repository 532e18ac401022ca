// container/pipe between processes in containers of an OCI runtime; experiment create stands here, as in the native
// probe.
#include "kit/containers/ring.h"
#include "kit/experiments/creation.h"
#include "kit/ring/links.h"
#include "oci_runtime.h"

namespace probe {
namespace {

template <Mode mode>
using ContainerMaking = Creation<mode, OciCreator>;

std::unique_ptr<Workload> make(const Plan& plan, Mode mode) {
    if (plan.experiment == "create") return make_for_mode<ContainerMaking>(plan, mode);
    return make_container_ring<LinkMedium<PipeLink>>(plan, mode);
}

}  // namespace

extern const Entry container_pipe{"container/pipe",       Shape::tasks, {"switch", "create"},
                                  container_parameters(), &make,        &runtime_missing};

}  // namespace probe
