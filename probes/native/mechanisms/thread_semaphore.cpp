// thread/semaphore: every context waits for a POSIX semaphore of its own.
#include <semaphore.h>

#include <cerrno>

#include "kit/tasks/tasks.h"

namespace probe {
namespace {

struct alignas(64) Slot {
    sem_t arrived;
    std::uint64_t token = 0;

    Slot() { sem_init(&arrived, 0, 0); }
    ~Slot() { sem_destroy(&arrived); }
};

struct Port {
    Slot* own;
    Slot* next;

    [[gnu::always_inline]] void send(std::uint64_t token) const {
        next->token = token;
        sem_post(&next->arrived);
    }
    [[gnu::always_inline]] std::uint64_t receive() const {
        while (sem_wait(&own->arrived) != 0 && errno == EINTR) {}
        return own->token;
    }
};

template <Mode mode>
using SemaphoreRing = ThreadRing<mode, SlotMedium<Slot, Port>>;

}  // namespace

extern const Entry thread_semaphore{"thread/semaphore",
                                    Shape::tasks,
                                    {"switch"},
                                    {sched_parameter(), working_set_parameter()},
                                    &make_ring_for_mode<SemaphoreRing>};

}  // namespace probe
