// container/pipe: process/pipe between processes in namespaces and control groups of their own.
#include "kit/containers/creation.h"
#include "kit/containers/held.h"
#include "kit/containers/ring.h"
#include "kit/experiments/creation.h"
#include "kit/ring/links.h"

namespace probe {
namespace {

template <Mode mode>
using ContainerMaking = Creation<mode, ContainerCreator>;

std::unique_ptr<Workload> make(const Plan& plan, Mode mode) {
    if (plan.experiment == "create") return make_for_mode<ContainerMaking>(plan, mode);
    if (plan.experiment == "footprint") return std::make_unique<HeldContainers>(plan);
    return make_container_ring<LinkMedium<PipeLink>>(plan, mode);
}

}  // namespace

extern const Entry container_pipe{
    "container/pipe", Shape::tasks, {"switch", "create", "footprint"}, container_parameters(), &make};

}  // namespace probe
