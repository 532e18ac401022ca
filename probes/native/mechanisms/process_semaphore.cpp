// process/semaphore: thread/semaphore between forked processes, the semaphores in shared memory.
#include <semaphore.h>

#include <cerrno>

#include "kit/parameters/speculation.h"
#include "kit/tasks/processes.h"

namespace probe {
namespace {

struct alignas(64) Slot {
    sem_t arrived;
    std::uint64_t token;
};

class SharedSemaphores {
public:
    using Token = std::uint64_t;

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

    explicit SharedSemaphores(std::uint32_t contexts) : slots_(contexts) {
        for (std::uint32_t i = 0; i < contexts; ++i) sem_init(&slots_[i].arrived, 1, 0);
    }

    Port port(std::uint32_t context) { return {&slots_[context], &slots_[next_in_ring(context, slots_.size())]}; }
    void before_fork(std::uint32_t) {}
    void after_fork(std::uint32_t) {}
    Port in_child(std::uint32_t context) { return port(context); }

private:
    SharedArray<Slot> slots_;
};

template <Mode mode>
using SemaphoreRing = ProcessRing<mode, SharedSemaphores>;

}  // namespace

extern const Entry process_semaphore{"process/semaphore",
                                     Shape::tasks,
                                     {"switch"},
                                     {sched_parameter(), speculation_parameter(), working_set_parameter()},
                                     &make_ring_for_mode<SemaphoreRing>};

}  // namespace probe
