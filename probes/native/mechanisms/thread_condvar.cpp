// thread/condvar: POSIX mutex and condition variable, signalled while the mutex is held, as the classic programs do. The woken thread
// then runs into the mutex, which is why a hop may cost two kernel switches.
#include <pthread.h>

#include <vector>

#include "kit/tasks.h"

namespace probe {
namespace {

class CondvarMedium {
public:
    using Token = std::uint64_t;

    struct alignas(64) Slot {
        pthread_cond_t arrived = PTHREAD_COND_INITIALIZER;
        bool full = false;
        Token token = 0;
    };

    struct Port {
        pthread_mutex_t* mutex;  // one for the ring
        Slot* own;
        Slot* next;

        [[gnu::always_inline]] void send(Token token) const {
            pthread_mutex_lock(mutex);
            next->token = token;
            next->full = true;
            pthread_cond_signal(&next->arrived);
            pthread_mutex_unlock(mutex);
        }
        [[gnu::always_inline]] Token receive() const {
            pthread_mutex_lock(mutex);
            while (!own->full) pthread_cond_wait(&own->arrived, mutex);
            own->full = false;
            const Token token = own->token;
            pthread_mutex_unlock(mutex);
            return token;
        }
    };

    explicit CondvarMedium(std::uint32_t contexts) : slots_(contexts) {}
    Port port(std::uint32_t context) { return {&mutex_, &slots_[context], &slots_[context + 1 == slots_.size() ? 0 : context + 1]}; }

private:
    alignas(64) pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
    std::vector<Slot> slots_;
};

template <Mode mode>
using CondvarRing = ThreadRing<mode, CondvarMedium>;

}  // namespace

extern const Entry thread_condvar{"thread/condvar", Shape::tasks, {"switch"}, {sched_parameter(), working_set_parameter()}, &make_ring_for_mode<CondvarRing>};

}  // namespace probe
