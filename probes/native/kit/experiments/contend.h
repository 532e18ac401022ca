// Experiment contend: all contexts take one lock, again and again, as long as there are units left; each acquisition is
// one. The counters that the lock guards are plain: where two contexts were inside at once, one of them is lost. A Lock
// is what a mechanism adds:
//
//   void lock();    void unlock();
//
// Under the lock and after it a context computes for `hold` and `think` steps of a chain that nothing shortens.
//
// Contexts are woken at the beginning of a batch and sleep at its end, so that the first acquisitions are the driver's
// alone: some wake-ups of some ten milliseconds (crates/model/src/experiment/contend.toml).
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <climits>

#include "kit/plan/mechanism.h"
#include "kit/ring/chain.h"
#include "kit/ring/ring.h"
#include "kit/tasks/tasks.h"

namespace probe {

template <class Lock>
class Contend final : public Workload {
public:
    explicit Contend(const Plan& plan)
        : stations_(plan.contexts),
          starts_(plan.contexts),
          turns_(plan.contexts),
          contexts_(plan.contexts),
          hold_(plan.number("hold")),
          think_(plan.number("think")) {
        try {
            for (std::uint32_t i = 1; i < contexts_; ++i) {
                starts_[i] = {this, i};
                threads_.start(&Contend::thread_main, &starts_[i], plan.cpu_of(i), contexts_);
            }
        } catch (...) {
            stop();
            throw;
        }
        run(0);  // waits until every thread has come to life
    }
    ~Contend() override { stop(); }

    void run(std::uint64_t units) override {
        left_ = units;
        last_ = 0;
        at_work_.store(contexts_ - 1, std::memory_order_relaxed);
        next(round_, INT_MAX);
        take_turns(0);
        for (std::uint32_t left = at_work_.load(); left != 0; left = at_work_.load()) wait(at_work_, left);
    }

    void publish() override { run(0); }
    std::span<const Station> stations() const override { return {stations_.data(), contexts_}; }
    std::uint64_t token() const override { return token_; }
    std::uint64_t mismatches() const override { return 0; }
    void counting(bool on) override {
        changes_ = on ? 0 : changes_;
        for (std::uint32_t i = 0; on && i < contexts_; ++i) turns_[i].before = turns_[i].value;
        if (on) return;
        fewest_ = ~std::uint64_t{0};
        for (std::uint32_t i = 0; i < contexts_; ++i) fewest_ = std::min(fewest_, turns_[i].value - turns_[i].before);
    }
    void add_counts(Counts& counts) const override {
        counts.emplace_back("handed_over", static_cast<std::int64_t>(changes_));
        counts.emplace_back("fewest_turns", static_cast<std::int64_t>(fewest_));
    }

private:
    struct Start {
        Contend* self;
        std::uint32_t index;
    };
    struct alignas(64) Turns {
        std::uint64_t value;
        std::uint64_t before;  // those that were not in batches
    };

    static void wait(std::atomic<std::uint32_t>& word, std::uint32_t seen) {
        syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
    }
    static void next(std::atomic<std::uint32_t>& word, int waiters) {
        word.fetch_add(1);
        syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, waiters, nullptr, nullptr, 0);
    }

    static void* thread_main(void* argument) {
        const Start start = *static_cast<Start*>(argument);
        start.self->live(start.index);
        return nullptr;
    }

    void live(std::uint32_t index) {
        for (std::uint32_t round = 0;;) {
            while (round_.load() == round) wait(round_, round);
            ++round;
            if (over_.load()) return;
            take_turns(index);
            if (at_work_.fetch_sub(1) == 1) syscall(SYS_futex, &at_work_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
        }
    }

    void take_turns(std::uint32_t index) {
        std::uint64_t turns = 0;
        std::uint64_t product = 1;
        for (;;) {
            lock_.lock();
            if (left_ == 0) break;
            product = chain::multiply(product, hold_);
            --left_;
            ++token_;
            if (last_ != index) {
                last_ = index;
                ++changes_;
            }
            lock_.unlock();
            ++turns;
            product = chain::multiply(product, think_);
        }
        lock_.unlock();
        stations_[index].turns = turns_[index].value += turns;
        probe::publish(stations_[index], true);
    }

    void stop() {
        over_.store(true);
        next(round_, INT_MAX);
        threads_.join();
    }

    SharedArray<Station> stations_;
    std::vector<Start> starts_;
    SharedArray<Turns> turns_;
    const std::uint32_t contexts_;
    const std::uint64_t hold_;
    const std::uint64_t think_;
    alignas(64) Lock lock_;
    // Guarded by the lock.
    alignas(64) std::uint64_t left_ = 0;
    std::uint64_t token_ = 0;
    std::uint64_t changes_ = 0;  // acquisitions by another context than the one before, in batches
    std::uint32_t last_ = 0;
    alignas(64) std::atomic<std::uint32_t> round_{0};
    std::atomic<std::uint32_t> at_work_{0};
    std::atomic<bool> over_{false};
    std::uint64_t fewest_ = 0;
    Threads threads_;
};

}  // namespace probe
