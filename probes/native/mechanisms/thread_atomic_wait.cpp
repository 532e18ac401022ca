// thread/atomic-wait: std::atomic's wait and notify_one, one word per context. The library spins and yields for some
// rounds before it waits in a futex.
#include "kit/ring/futex.h"
#include "kit/tasks/tasks.h"

namespace probe {
namespace {

struct AtomicCalls {
    [[gnu::always_inline]] static void wake(std::atomic<std::uint32_t>& word) { word.notify_one(); }
    [[gnu::always_inline]] static void sleep(std::atomic<std::uint32_t>& word, std::uint32_t seen) { word.wait(seen); }
};

template <Mode mode>
using AtomicWaitRing = ThreadRing<mode, FutexMedium<FutexScope::one_process, AtomicCalls>>;

}  // namespace

extern const Entry thread_atomic_wait{"thread/atomic-wait",
                                      Shape::tasks,
                                      {"switch"},
                                      {sched_parameter(), working_set_parameter()},
                                      &make_ring_for_mode<AtomicWaitRing>};

}  // namespace probe
