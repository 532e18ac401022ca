// Rings of threads that are something else.
#include "kit/experiments/linked.h"
#include "kit/os/arch.h"
#include "kit/ring/eventfd_link.h"
#include "kit/ring/futex.h"
#include "negative/mistakes.h"

namespace probe {
namespace {

// Waits in the kernel at every second turn only.
class HalfSpunMedium : public FutexMedium<FutexScope::one_process> {
    using Futex = FutexMedium<FutexScope::one_process>;

public:
    struct Port : Futex::Port {
        bool spins = false;

        [[gnu::always_inline]] Token receive() {
            spins = !spins;
            while (spins && own->value.load(std::memory_order_acquire) == last_seen) arch::spin_pause();
            return Futex::Port::receive();
        }
    };
    using Futex::Futex;
    Port port(std::uint32_t context) { return {Futex::port(context)}; }
};

template <Mode mode>
using HalfSpun = ThreadRing<mode, HalfSpunMedium>;
template <Mode mode>
using Futexes = ThreadRing<mode, FutexMedium<FutexScope::one_process>>;

template <Mode mode>
using Counters = ThreadRing<mode, LinkMedium<EventfdLink>>;
template <Mode mode>
using Pipes = ProcessRing<mode, ProcessLinkMedium<PipeLink>>;

std::unique_ptr<Workload> make_on_one_cpu(const Plan& plan, Mode mode) {
    Plan one = plan;
    if (one.cpus.size() > 1) one.cpus.resize(1);
    return make_ring_for_mode<Futexes>(one, mode);
}

}  // namespace

extern const Entry processes_for_threads{
    "thread/pipe",
    Shape::tasks,
    {"switch"},
    {payload_parameter(), sched_parameter(), idle_parameter(), working_set_parameter()},
    &make_linked<LinkedProcesses<PipeLink>>};
extern const Entry half_spun{"thread/futex",
                             Shape::tasks,
                             {"switch"},
                             {sched_parameter(), idle_parameter(), working_set_parameter()},
                             &make_ring_for_mode<HalfSpun>};
extern const Entry one_cpu{"thread/futex",
                           Shape::tasks,
                           {"switch"},
                           {sched_parameter(), idle_parameter(), working_set_parameter()},
                           &make_on_one_cpu};
extern const Entry unasked_epoll{"thread/epoll-eventfd",
                                 Shape::tasks,
                                 {"switch"},
                                 {sched_parameter(), idle_parameter(), working_set_parameter()},
                                 &make_ring_for_mode<Counters>};
extern const Entry no_wall{"sandbox/pipe",
                           Shape::tasks,
                           {"switch"},
                           {{"wall", {"seccomp"}}, sched_parameter(), working_set_parameter()},
                           &make_ring_for_mode<Pipes>};

}  // namespace probe
