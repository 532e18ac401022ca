// thread/rotated: threads that all compute on one CPU.
#include "kit/experiments/rotate.h"

namespace probe {

extern const Entry thread_rotated{
    "thread/rotated",
    Shape::tasks,
    {"rotate"},
    {sched_parameter()},
    [](const Plan& plan, Mode) -> std::unique_ptr<Workload> { return std::make_unique<Rotate>(plan); }};

}  // namespace probe
