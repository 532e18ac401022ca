// thread/latch: every context waits for a std::latch of its own. It opens once, so that each switch takes a new one.
#include <latch>
#include <memory>

#include "kit/tasks/tasks.h"

namespace probe {
namespace {

// The one that was opened is made anew when the other one opens: by then its sender has left it.
struct alignas(64) Slot {
    std::latch arrived[2] = {std::latch{1}, std::latch{1}};
    std::uint64_t token = 0;
    unsigned sent = 0;
    unsigned received = 0;
};

struct Port {
    Slot* own;
    Slot* next;

    [[gnu::always_inline]] void send(std::uint64_t token) const {
        next->token = token;
        next->arrived[next->sent++ % 2].count_down();
    }
    [[gnu::always_inline]] std::uint64_t receive() const {
        own->arrived[own->received % 2].wait();
        std::latch& opened_before = own->arrived[++own->received % 2];
        std::destroy_at(&opened_before);
        std::construct_at(&opened_before, 1);
        return own->token;
    }
};

template <Mode mode>
using LatchRing = ThreadRing<mode, SlotMedium<Slot, Port>>;

}  // namespace

extern const Entry thread_latch{"thread/latch",
                                Shape::tasks,
                                {"switch"},
                                {sched_parameter(), working_set_parameter()},
                                &make_ring_for_mode<LatchRing>};

}  // namespace probe
