// thread/semaphore: every context waits for a POSIX semaphore of its own.
#include <semaphore.h>

#include <cerrno>
#include <vector>

#include "kit/tasks/tasks.h"

namespace probe {
namespace {

class SemaphoreMedium {
public:
    using Token = std::uint64_t;

    struct alignas(64) Slot {
        sem_t arrived;
        Token token = 0;
    };

    struct Port {
        Slot* own;
        Slot* next;

        [[gnu::always_inline]] void send(Token token) const {
            next->token = token;
            sem_post(&next->arrived);
        }
        [[gnu::always_inline]] Token receive() const {
            while (sem_wait(&own->arrived) != 0 && errno == EINTR) {}
            return own->token;
        }
    };

    explicit SemaphoreMedium(std::uint32_t contexts) : slots_(contexts) {
        for (Slot& slot : slots_) sem_init(&slot.arrived, 0, 0);
    }
    ~SemaphoreMedium() {
        for (Slot& slot : slots_) sem_destroy(&slot.arrived);
    }
    Port port(std::uint32_t context) {
        return {&slots_[context], &slots_[context + 1 == slots_.size() ? 0 : context + 1]};
    }

private:
    std::vector<Slot> slots_;
};

template <Mode mode>
using SemaphoreRing = ThreadRing<mode, SemaphoreMedium>;

}  // namespace

extern const Entry thread_semaphore{"thread/semaphore",
                                    Shape::tasks,
                                    {"switch"},
                                    {sched_parameter(), working_set_parameter()},
                                    &make_ring_for_mode<SemaphoreRing>};

}  // namespace probe
