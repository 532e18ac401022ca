// thread/preempted: a thread that computes until one of a real-time class takes its CPU.
#include "kit/experiments/preempt.h"

namespace probe {

extern const Entry thread_preempted{
    "thread/preempted",
    Shape::tasks,
    {"preempt"},
    {{"data", {}}, {"every", {}}, {"other_data", {}}},
    [](const Plan& plan, Mode) -> std::unique_ptr<Workload> { return std::make_unique<Preempt>(plan); }};

}  // namespace probe
