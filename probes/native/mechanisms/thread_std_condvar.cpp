// thread/std-condvar: std::mutex and std::condition_variable, one pair a context, notified after the mutex is released,
// as C++ books advise.
#include <condition_variable>
#include <mutex>

#include "kit/tasks/tasks.h"

namespace probe {
namespace {

struct alignas(64) Slot {
    std::mutex mutex;
    std::condition_variable arrived;
    bool full = false;
    std::uint64_t token = 0;
};

struct Port {
    Slot* own;
    Slot* next;

    [[gnu::always_inline]] void send(std::uint64_t token) const {
        {
            const std::lock_guard<std::mutex> lock(next->mutex);
            next->token = token;
            next->full = true;
        }
        next->arrived.notify_one();
    }
    [[gnu::always_inline]] std::uint64_t receive() const {
        std::unique_lock<std::mutex> lock(own->mutex);
        while (!own->full) own->arrived.wait(lock);
        own->full = false;
        return own->token;
    }
};

template <Mode mode>
using StdCondvarRing = ThreadRing<mode, SlotMedium<Slot, Port>>;

}  // namespace

extern const Entry thread_std_condvar{"thread/std-condvar",
                                      Shape::tasks,
                                      {"switch"},
                                      {sched_parameter(), working_set_parameter()},
                                      &make_ring_for_mode<StdCondvarRing>};

}  // namespace probe
