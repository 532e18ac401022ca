// Experiment rotate: tasks that all compute have one CPU, and the kernel lets them take turns. An interval is what is
// between the last thing that one says and the first that the next one says, less one stretch of work.
//
// Each works in equal stretches and says the time after each. The one that loses the CPU is in the middle of a stretch,
// as is the one that gets it: on average the two halves are one stretch.
#pragma once

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <vector>

#include "kit/os/clock.h"
#include "kit/plan/failure.h"
#include "kit/plan/mechanism.h"
#include "kit/ring/chain.h"
#include "kit/ring/ring.h"
#include "kit/tasks/tasks.h"

namespace probe {

class Rotate final : public Workload {
public:
    explicit Rotate(const Plan& plan)
        : stations_(plan.contexts), starts_(plan.contexts), tasks_(plan.contexts), contexts_(plan.contexts) {
        if (plan.text("sched") == "rr") slice_ns_ = 100'000'000;  // RR_TIMESLICE
        if (plan.text("sched") == "fifo")
            throw unsupported("unsupported_here",
                              "sched=fifo: a task of this class keeps the CPU until it waits, and these only compute; "
                              "sched=rr takes turns");
        took_.reserve(plan.batches + plan.warmup_batches);
        settle();
        try {
            for (std::uint32_t i = 1; i < contexts_; ++i) {
                starts_[i] = {this, i};
                threads_.start(&Rotate::thread_main, &starts_[i], plan.cpu_of(0), contexts_);
            }
        } catch (...) {
            stop();
            throw;
        }
        run(0);  // waits until every thread has come to life
    }
    ~Rotate() override { stop(); }

    std::optional<std::uint64_t> units_in(std::uint64_t batch_ns) const override {
        return std::max<std::uint64_t>(1, batch_ns / slice_ns_);
    }

    void run(std::uint64_t units) override {
        if (gave_up_) return took_.push_back(0);  // the start has no figure, and should end soon
        left_ = units;
        lost_ = 0;
        patience_ = clock_now() + 100 * units * usual_slice_ns + 1'000'000'000;
        owner_ = nobody;
        at_work_.store(contexts_ - 1, std::memory_order_relaxed);
        round_.fetch_add(1);
        syscall(SYS_futex, &round_, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
        compute(0);
        for (std::uint32_t left = at_work_.load(); left != 0; left = at_work_.load())
            syscall(SYS_futex, &at_work_, FUTEX_WAIT_PRIVATE, left, nullptr, nullptr, 0);
        gave_up_ |= left_ != 0;
        took_.push_back(lost_ > 0 ? static_cast<std::uint64_t>(lost_) : 0);
    }

    void publish() override { run(0); }
    std::span<const Station> stations() const override { return {stations_.data(), contexts_}; }
    std::uint64_t token() const override { return token_; }
    std::uint64_t mismatches() const override { return 0; }
    void retime(std::span<std::uint64_t> ticks) override {
        if (gave_up_)
            throw unsupported("unsupported_here",
                              "the tasks did not take turns: they were not alone on a CPU, or others had it; measure "
                              "again when nothing else runs");
        // Those of publish() have none.
        const auto last = took_.end() - 1;
        std::copy(last - static_cast<std::ptrdiff_t>(ticks.size()), last, ticks.begin());
    }
    void counting(bool on) override {
        for (Task& task : tasks_) task.before = on ? task.turns : task.before;
        fewest_ = ~std::uint64_t{0};
        for (const Task& task : tasks_) fewest_ = std::min(fewest_, task.turns - task.before);
    }
    void add_counts(Counts& counts) const override {
        std::int64_t wrong = 0;
        for (const Task& task : tasks_)
            if (task.product != chain::after(task.stretches * steps_))
                wrong += static_cast<std::int64_t>(task.stretches);
        counts.emplace_back("work_missing", wrong);
        counts.emplace_back("fewest_turns", static_cast<std::int64_t>(fewest_));
    }

private:
    static constexpr std::uint64_t usual_slice_ns = 3'000'000;
    static constexpr std::uint64_t least_stretch_ns = 400;  // reading the clock is a tenth of it
    static constexpr std::uint32_t nobody = ~std::uint32_t{0};
    struct Start {
        Rotate* self;
        std::uint32_t index;
    };
    struct alignas(64) Task {
        std::uint64_t product = 1;
        std::uint64_t stretches = 0;
        std::uint64_t turns = 0;
        std::uint64_t before = 0;  // those that were not in batches
    };

    // As short as the clock allows, and how long it is alone.
    void settle() {
        for (steps_ = 64;; steps_ *= 2) {
            stretch_ns_ = ~std::uint64_t{0};
            for (int i = 0; i < 200; ++i) {
                const std::uint64_t begin = clock_now();
                asm volatile("" ::"r"(chain::multiply(1, steps_)));
                stretch_ns_ = std::min(stretch_ns_, clock_now() - begin);
            }
            if (stretch_ns_ >= least_stretch_ns) return;
        }
    }

    static void* thread_main(void* argument) {
        const Start start = *static_cast<Start*>(argument);
        start.self->live(start.index);
        return nullptr;
    }

    void live(std::uint32_t index) {
        for (std::uint32_t round = 0;;) {
            while (round_.load() == round) syscall(SYS_futex, &round_, FUTEX_WAIT_PRIVATE, round, nullptr, nullptr, 0);
            ++round;
            if (over_.load()) return;
            compute(index);
            if (at_work_.fetch_sub(1) == 1) syscall(SYS_futex, &at_work_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
        }
    }

    // All run on one CPU, so that whoever writes here is alone, but for what the kernel cuts in the middle: then one
    // stretch more is between two of them.
    void compute(std::uint32_t index) {
        Task& task = tasks_[index];
        while (left_ != 0) {
            task.product = chain::multiply(task.product, steps_);
            ++task.stretches;
            const std::uint64_t now = clock_now();
            if (owner_ != index) {
                if (owner_ != nobody && left_ != 0) {
                    lost_ += static_cast<std::int64_t>(now - said_) - static_cast<std::int64_t>(stretch_ns_);
                    ++task.turns;
                    ++token_;
                    left_ = left_ - 1;
                }
                owner_ = index;
            }
            said_ = now;
            if (now > patience_) break;
        }
        stations_[index].turns = task.turns;
        probe::publish(stations_[index], true);
    }

    void stop() {
        over_.store(true);
        round_.fetch_add(1);
        syscall(SYS_futex, &round_, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
        threads_.join();
    }

    SharedArray<Station> stations_;
    std::vector<Start> starts_;
    std::vector<Task> tasks_;
    const std::uint32_t contexts_;
    std::uint64_t slice_ns_ = usual_slice_ns;
    std::uint64_t steps_ = 0;
    std::uint64_t stretch_ns_ = 0;
    std::uint64_t patience_ = 0;
    std::vector<std::uint64_t> took_;  // of each run
    std::uint64_t fewest_ = 0;
    bool gave_up_ = false;
    // Of whoever has the CPU.
    alignas(64) volatile std::uint64_t left_ = 0;
    volatile std::uint64_t said_ = 0;
    volatile std::uint32_t owner_ = nobody;
    std::int64_t lost_ = 0;
    std::uint64_t token_ = 0;
    alignas(64) std::atomic<std::uint32_t> round_{0};
    std::atomic<std::uint32_t> at_work_{0};
    std::atomic<bool> over_{false};
    Threads threads_;
};

}  // namespace probe
