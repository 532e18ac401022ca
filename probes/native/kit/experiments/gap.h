// Experiment gap: a task sleeps on a CPU, and a partner on another one wakes it when it has slept as long as the plan
// says. An interval goes from the partner's reading of the clock right before its wake call to the sleeper's reading
// right after its wait.
//
// The gap begins when the kernel has the sleeper in its queue: the partner moves it to another word's queue, which
// succeeds only then and wakes nobody. Through the gap the partner reads the clock; a sleep of its own would be late.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "kit/os/clock.h"
#include "kit/plan/failure.h"
#include "kit/plan/mechanism.h"
#include "kit/ring/ring.h"
#include "kit/tasks/tasks.h"

namespace probe {

inline Parameter gap_parameter() { return {"gap", {}}; }

class Gap final : public Workload {
public:
    explicit Gap(const Plan& plan) : histogram_(1), station_(1), gap_(plan.number("gap") * 1000) {
        if (plan.cpus.size() < 2)
            throw unsupported("too_few_cpus", "experiment=gap wakes a CPU from another one; choose placement two_cpus");
        histogram_[0].clear();
        publish();
        partner_.start(&Gap::live, this, plan.cpu_of(1), 2);
    }
    ~Gap() override {
        over_.store(true);
        partner_.join();
    }

    // Falling asleep and waking take some µs more, which matter to the shortest gaps alone.
    std::optional<std::uint64_t> units_in(std::uint64_t batch_ns) const override {
        return std::max<std::uint64_t>(1, batch_ns / (gap_ + usual_wake_ns));
    }

    void run(std::uint64_t units) override {
        Histogram& histogram = histogram_[0];
        for (const std::uint64_t end = woken_ + units; woken_ != end; ++woken_) {
            const auto before = static_cast<std::uint32_t>(woken_);
            while (bed_.value.load(std::memory_order_acquire) == before) futex(bed_, FUTEX_WAIT_PRIVATE, before);
            histogram.record(clock_now() - called_, 0);
        }
    }

    void publish() override {
        station_[0].turns = woken_;
        probe::publish(station_[0], true);
    }
    std::span<const Station> stations() const override { return {const_cast<Gap*>(this)->station_.data(), 1}; }
    std::uint64_t token() const override { return woken_; }
    std::uint64_t mismatches() const override { return 0; }
    Histogram* histogram() override { return histogram_.data(); }

private:
    struct alignas(64) Word {
        std::atomic<std::uint32_t> value{0};
    };

    static constexpr std::uint64_t usual_wake_ns = 20'000;

    static long futex(Word& word, int operation, std::uint32_t number) {
        return syscall(SYS_futex, &word.value, operation, number, nullptr, nullptr, 0);
    }

    static void* live(void* self) {
        static_cast<Gap*>(self)->live();
        return nullptr;
    }

    // `number` wake-ups were before.
    void live() {
        for (std::uint32_t number = 0; sleeps(number); ++number) {
            const std::uint64_t due = clock_now() + gap_;
            std::uint64_t now = clock_now();
            while (now < due) now = clock_now();
            called_ = now;
            bed_.value.store(number + 1, std::memory_order_release);
            // A signal may have sent the sleeper back to the first queue.
            if (futex(asleep_, FUTEX_WAKE_PRIVATE, 1) == 0) futex(bed_, FUTEX_WAKE_PRIVATE, 1);
        }
    }

    // Returns when it does; false: it will not any more.
    bool sleeps(std::uint32_t number) {
        while (!over_.load(std::memory_order_relaxed)) {
            const long moved =
                syscall(SYS_futex, &bed_.value, FUTEX_CMP_REQUEUE_PRIVATE, 0, 1L, &asleep_.value, number);
            if (moved == 1) return true;
        }
        return false;
    }

    SharedArray<Histogram> histogram_;
    SharedArray<Station> station_;
    const std::uint64_t gap_;
    Word bed_;                  // its value: wake-ups until now
    Word asleep_;               // has a queue alone
    std::uint64_t called_ = 0;  // when the last wake call was made; published by `bed_`
    std::atomic<bool> over_{false};
    std::uint64_t woken_ = 0;
    Threads partner_;
};

// For `make` of a mechanism whose other experiments are made by `others`.
template <std::unique_ptr<Workload> (*others)(const Plan&, Mode)>
std::unique_ptr<Workload> make_with_gap(const Plan& plan, Mode mode) {
    if (plan.experiment == "gap") return std::make_unique<Gap>(plan);
    return others(plan, mode);
}

}  // namespace probe
