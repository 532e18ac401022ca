// thread/condvar: POSIX mutex and condition variable, signalled while the mutex is held, as the classic programs do.
// The woken thread then runs into the mutex, which is why a switch may cost two kernel switches. With locking=held a
// context keeps the mutex from its first turn to its last and lets go of it only while it waits, as Bendersky's program
// does: some of those that are woken then come in time.
#include <pthread.h>

#include <memory>
#include <vector>

#include "kit/tasks/tasks.h"

namespace probe {
namespace {

using CondvarToken = std::uint64_t;

struct alignas(64) Slot {
    pthread_cond_t arrived = PTHREAD_COND_INITIALIZER;
    bool full = false;
    CondvarToken token = 0;

    // With the mutex held.
    [[gnu::always_inline]] void put(CondvarToken value) {
        token = value;
        full = true;
        pthread_cond_signal(&arrived);
    }
    [[gnu::always_inline]] CondvarToken take(pthread_mutex_t* mutex) {
        while (!full) pthread_cond_wait(&arrived, mutex);
        full = false;
        return token;
    }
};

// locking=turn: the mutex is taken for each step.
struct TurnPort {
    pthread_mutex_t* mutex;  // one for the ring
    Slot* own;
    Slot* next;

    [[gnu::always_inline]] void send(CondvarToken token) const {
        pthread_mutex_lock(mutex);
        next->put(token);
        pthread_mutex_unlock(mutex);
    }
    [[gnu::always_inline]] CondvarToken receive() const {
        pthread_mutex_lock(mutex);
        const CondvarToken token = own->take(mutex);
        pthread_mutex_unlock(mutex);
        return token;
    }
};

// locking=held: the mutex is kept from the first step until the port goes.
class HeldPort {
public:
    HeldPort(pthread_mutex_t* mutex, Slot* own, Slot* next) : mutex_(mutex), own_(own), next_(next) {}
    HeldPort(const HeldPort&) = delete;
    HeldPort& operator=(const HeldPort&) = delete;
    ~HeldPort() {
        if (held_) pthread_mutex_unlock(mutex_);
    }

    [[gnu::always_inline]] void send(CondvarToken token) {
        hold();
        next_->put(token);
    }
    [[gnu::always_inline]] CondvarToken receive() {
        hold();
        return own_->take(mutex_);
    }

private:
    [[gnu::always_inline]] void hold() {
        if (held_) [[likely]]
            return;
        pthread_mutex_lock(mutex_);
        held_ = true;
    }

    pthread_mutex_t* mutex_;
    Slot* own_;
    Slot* next_;
    bool held_ = false;
};

template <class Port>
class CondvarMedium {
public:
    using Token = CondvarToken;

    explicit CondvarMedium(std::uint32_t contexts) : slots_(contexts) {}
    Port port(std::uint32_t context) {
        return {&mutex_, &slots_[context], &slots_[next_in_ring(context, slots_.size())]};
    }

private:
    alignas(64) pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
    std::vector<Slot> slots_;
};

template <Mode mode>
using TurnCondvarRing = ThreadRing<mode, CondvarMedium<TurnPort>>;
template <Mode mode>
using HeldCondvarRing = ThreadRing<mode, CondvarMedium<HeldPort>>;

std::unique_ptr<Workload> make(const Plan& plan, Mode mode) {
    return plan.text("locking") == "held" ? make_ring_for_mode<HeldCondvarRing>(plan, mode)
                                          : make_ring_for_mode<TurnCondvarRing>(plan, mode);
}

}  // namespace

extern const Entry thread_condvar{"thread/condvar",
                                  Shape::tasks,
                                  {"switch"},
                                  {{"locking", {"turn", "held"}}, sched_parameter(), working_set_parameter()},
                                  &make};

}  // namespace probe
