// Experiment submit: tasks are handed to a pool of threads, as many at once as the plan has contexts; a task is a
// context, and does nothing but count. A Pool is what a mechanism adds:
//
//   Pool(std::uint32_t workers);   begins no thread
//   void work();                   the life of a worker, until stop()
//   void post(Task&);              hands a task over; whoever takes it calls run()
//   void stop();                   lets every work() end, once no task is left
//
// One whose library makes the threads has, in place of work(), begin(begun): every worker has called begun() when it
// returns.
//
// from=outside: a thread that is none of the pool's hands over a lot, and sleeps until its last task has run. An
// interval is from before the first was handed over to the first instruction of the last one. from=within: the last
// task of a lot hands over the next lot, and an interval is what is between two of them: nobody waits, and no clock is
// read.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "kit/os/clock.h"
#include "kit/os/cpu.h"
#include "kit/os/os.h"
#include "kit/plan/mechanism.h"
#include "kit/tasks/tasks.h"

namespace probe {

// What a pool is handed.
class Task {
public:
    virtual void run() = 0;

protected:
    ~Task() = default;
};

template <class Pool>
class Submit final : public Workload {
public:
    explicit Submit(const Plan& plan)
        : contexts_(plan.contexts),
          workers_(static_cast<std::uint32_t>(plan.number("workers"))),
          within_(plan.text("from") == "within"),
          stations_(contexts_),
          tasks_(contexts_),
          ids_(workers_ + 1),
          pool_(workers_) {
        took_.reserve(plan.batches + plan.warmup_batches);
        for (std::uint32_t i = 0; i < contexts_; ++i) {
            tasks_[i].self = this;
            stations_[i].cpu = -1;
        }
        ids_[0] = os::current_task();
        if constexpr (requires { pool_.work(); }) {
            start(plan);
        } else {
            pool_.begin([this, plan] { pin_self(plan.cpu_of(begun())); });
        }
        run(contexts_);
    }
    ~Submit() override { stop(); }

    void run(std::uint64_t units) override {
        left_ = units;
        took_.push_back(0);
        if (within_) {
            const std::uint64_t begin = clock_now();
            // The pool's own task begins, so that none is handed over from outside but the first.
            hand_over();
            wait();
            took_.back() = clock_now() - begin;
            return;
        }
        while (left_ != 0) {
            const std::uint64_t begin = clock_now();
            hand_over();
            wait();
            took_.back() += ran_ - begin;
        }
    }

    void publish() override {
        for (std::uint32_t i = 0; i < contexts_; ++i) {
            stations_[i].turns = tasks_[i].turns;
            stations_[i].cpu = tasks_[i].cpu;
        }
    }
    std::span<const Station> stations() const override { return {stations_.data(), contexts_}; }
    std::vector<TaskId> tasks() const override { return ids_; }
    std::uint64_t token() const override { return token_; }
    std::uint64_t mismatches() const override { return 0; }
    void retime(std::span<std::uint64_t> ticks) override {
        std::copy(took_.end() - static_cast<std::ptrdiff_t>(ticks.size()), took_.end(), ticks.begin());
    }
    void counting(bool on) override {
        for (Counted* task = tasks_.data(); on && task != tasks_.data() + contexts_; ++task)
            task->same_cpu = task->inside = 0;
    }
    void add_counts(Counts& counts) const override {
        std::int64_t same_cpu = 0, inside = 0;
        for (const Counted& task : tasks_) {
            same_cpu += static_cast<std::int64_t>(task.same_cpu);
            inside += static_cast<std::int64_t>(task.inside);
        }
        counts.emplace_back("on_submitters_cpu", same_cpu);
        counts.emplace_back("ran_in_submit", inside);
    }

private:
    struct alignas(64) Counted final : Task {
        void run() override { self->ran(*this); }
        Submit* self = nullptr;
        std::uint64_t turns = 0;
        std::uint64_t same_cpu = 0;
        std::uint64_t inside =
            0;  // times that it ran before its submitter's call had returned, in its submitter's thread
        std::int32_t cpu = -1;
    };

    void start(const Plan& plan) {
        try {
            for (std::uint32_t i = 1; i <= workers_; ++i) threads_.start(&live, this, plan.cpu_of(i), workers_);
        } catch (...) {
            stop();
            throw;
        }
        while (born_.load() != workers_) sched_yield();
    }

    static void* live(void* argument) {
        Submit& self = *static_cast<Submit*>(argument);
        self.begun();
        self.pool_.work();
        return nullptr;
    }

    // Which worker the calling one is, from 1 on.
    std::uint32_t begun() {
        const std::uint32_t number = 1 + born_.fetch_add(1);
        ids_[number] = os::current_task();
        return number;
    }

    // The lot's tasks may run, and its last one may hand over the next lot, before this has returned: nothing of the
    // lot is looked at after the last call.
    void hand_over() {
        const std::uint64_t lot = std::min<std::uint64_t>(contexts_, left_);
        left_ -= lot;
        at_work_.store(static_cast<std::uint32_t>(lot), std::memory_order_relaxed);
        submitters_cpu_ = cpu_of_this_task();
        submitting = true;
        for (std::uint64_t i = 0; i < lot; ++i) pool_.post(tasks_[i]);
        submitting = false;
    }

    void ran(Counted& task) {
        ++task.turns;
        task.cpu = cpu_of_this_task();
        task.same_cpu += task.cpu == submitters_cpu_;
        task.inside += submitting;
        token_.fetch_add(1, std::memory_order_relaxed);
        if (at_work_.fetch_sub(1) != 1) return;
        if (within_ && left_ != 0) return hand_over();
        if (!within_) ran_ = clock_now();
        done_.store(1);
        syscall(SYS_futex, &done_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
    }

    void wait() {
        while (done_.load() == 0) syscall(SYS_futex, &done_, FUTEX_WAIT_PRIVATE, 0, nullptr, nullptr, 0);
        done_.store(0);
    }

    void stop() {
        pool_.stop();
        threads_.join();
    }

    static inline thread_local bool submitting = false;

    const std::uint32_t contexts_;
    const std::uint32_t workers_;
    const bool within_;
    std::vector<Station> stations_;
    std::vector<Counted> tasks_;
    std::vector<TaskId> ids_;
    std::vector<std::uint64_t> took_;  // of each run
    // Of the one who hands over, who changes: at_work_ and done_ order the accesses.
    std::uint64_t left_ = 0;
    std::uint64_t ran_ = 0;
    int submitters_cpu_ = -1;
    alignas(64) std::atomic<std::uint32_t> at_work_{0};
    std::atomic<std::uint64_t> token_{0};
    alignas(64) std::atomic<std::uint32_t> done_{0};
    std::atomic<std::uint32_t> born_{0};
    Pool pool_;
    Threads threads_;
};

// What every pool's row takes.
inline std::vector<Parameter> submit_parameters() { return {{"from", {"outside", "within"}}, {"workers", {}}}; }

}  // namespace probe
