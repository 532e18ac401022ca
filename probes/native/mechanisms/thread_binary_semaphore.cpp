// thread/binary-semaphore: every context waits for a std::binary_semaphore of its own.
#include <semaphore>

#include "kit/tasks/tasks.h"

namespace probe {
namespace {

struct alignas(64) Slot {
    std::binary_semaphore arrived{0};
    std::uint64_t token = 0;
};

struct Port {
    Slot* own;
    Slot* next;

    [[gnu::always_inline]] void send(std::uint64_t token) const {
        next->token = token;
        next->arrived.release();
    }
    [[gnu::always_inline]] std::uint64_t receive() const {
        own->arrived.acquire();
        return own->token;
    }
};

template <Mode mode>
using BinarySemaphoreRing = ThreadRing<mode, SlotMedium<Slot, Port>>;

}  // namespace

extern const Entry thread_binary_semaphore{"thread/binary-semaphore",
                                           Shape::tasks,
                                           {"switch"},
                                           {sched_parameter(), working_set_parameter()},
                                           &make_ring_for_mode<BinarySemaphoreRing>};

}  // namespace probe
