// executor/condvar-queue: a queue under a mutex, whose workers wait at a condition variable.
#include <condition_variable>
#include <deque>
#include <mutex>

#include "kit/experiments/submit.h"

namespace probe {
namespace {

class CondvarQueue {
public:
    explicit CondvarQueue(std::uint32_t) {}

    void work() {
        for (std::unique_lock lock(mutex_);;) {
            filled_.wait(lock, [this] { return over_ || !tasks_.empty(); });
            if (tasks_.empty()) return;
            Task* task = tasks_.front();
            tasks_.pop_front();
            lock.unlock();
            task->run();
            lock.lock();
        }
    }
    void post(Task& task) {
        {
            const std::lock_guard lock(mutex_);
            tasks_.push_back(&task);
        }
        filled_.notify_one();
    }
    void stop() {
        {
            const std::lock_guard lock(mutex_);
            over_ = true;
        }
        filled_.notify_all();
    }

private:
    std::mutex mutex_;
    std::condition_variable filled_;
    std::deque<Task*> tasks_;
    bool over_ = false;
};

std::unique_ptr<Workload> make(const Plan& plan, Mode) { return std::make_unique<Submit<CondvarQueue>>(plan); }

}  // namespace

extern const Entry executor_condvar_queue{
    "executor/condvar-queue", Shape::tasks, {"submit"}, submit_parameters(), &make};

}  // namespace probe
