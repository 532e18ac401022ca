// Experiment wakeup: a task waits for times that are fixed beforehand, one a period, and says of each how much later it
// ran. The times do not move when it was late: what one wake-up found due is counted from its own time, each.
//
// A Waker says how the driver waits:
//
//   explicit Waker(const Plan&);                            may throw Failure
//   void begin(const Beat&);                                the first time is known
//   void wait(const Beat&, std::uint64_t due);              returns when time `due` may have come
//   std::uint64_t served(const Beat&, std::uint64_t due);   it has, and its news is here: the time now; else 0
//   static std::vector<std::uint64_t> times(const Plan&, std::uint64_t period);   when it draws its own; need not be
//   void counting(bool on); void add_counts(Counts&) const;                       when it counts; need not be
#pragma once

#include <atomic>
#include <memory>

#include "kit/os/clock.h"
#include "kit/plan/drawn.h"
#include "kit/plan/mechanism.h"
#include "kit/ring/ring.h"
#include "kit/tasks/tasks.h"

namespace probe {

inline Parameter period_parameter() { return {"period", {}}; }
inline Parameter phase_parameter() { return {"phase", {"grid", "drawn"}}; }

inline std::uint64_t times_in(std::uint64_t ns, std::uint64_t period) {
    return std::max<std::uint64_t>(1, (ns + period - 1) / period);
}

// A timer of the task's own, whatever it waits by.
struct OwnTimer {
    explicit OwnTimer(const Plan&) {}
    void begin(const Beat&) {}
    std::uint64_t served(const Beat& beat, std::uint64_t due) const {
        const std::uint64_t now = clock_now();
        return now >= beat.at(due) ? now : 0;
    }
};

struct TimerWaker : OwnTimer {
    using OwnTimer::OwnTimer;
    void wait(const Beat& beat, std::uint64_t due) { sleep_until(beat.at(due)); }
};

// A partner sleeps until the time and then hands over a token, as in a ring of two. What it found due at once it
// announces at once.
template <class Medium>
class PartnerWaker {
public:
    explicit PartnerWaker(const Plan& plan) : medium_(2), port_(medium_.port(1)) {
        partner_.start(&PartnerWaker::live, this, plan.cpu_of(1), 2);
    }
    ~PartnerWaker() {
        over_.store(true);
        started_.store(1);
        started_.notify_one();
        partner_.join();
    }

    void begin(const Beat& beat) {
        beat_ = beat;
        started_.store(1);
        started_.notify_one();
    }
    void wait(const Beat&, std::uint64_t) { port_.receive(); }
    // The clock is read after the news: between the two the partner may have had the CPU.
    std::uint64_t served(const Beat&, std::uint64_t due) const {
        return due < announced_.load(std::memory_order_acquire) ? clock_now() : 0;
    }

private:
    static void* live(void* self) {
        static_cast<PartnerWaker*>(self)->live();
        return nullptr;
    }
    void live() {
        started_.wait(0);
        auto port = medium_.port(0);
        for (std::uint64_t number = 0; !over_.load(std::memory_order_relaxed); ++number) {
            sleep_until(beat_.at(number));
            while (beat_.at(number + 1) <= clock_now()) ++number;
            announced_.store(number + 1, std::memory_order_release);
            port.send(number + 1);
        }
    }

    Medium medium_;
    decltype(medium_.port(1)) port_;
    Beat beat_;
    std::atomic<std::uint32_t> started_{0};
    std::atomic<std::uint64_t> announced_{0};
    std::atomic<bool> over_{false};
    Threads partner_;
};

// What is recorded of time `due`, which was served at `now`.
struct FromTheIntendedTime {
    void record(Histogram& histogram, Beat& beat, std::uint64_t due, std::uint64_t now) const {
        histogram.record(now - beat.at(due), 0);
    }
};

template <class Waker, class Recorder = FromTheIntendedTime>
class Wakeup final : public Workload {
public:
    explicit Wakeup(const Plan& plan) : histogram_(1), station_(1), waker_(plan) {
        beat_.period = plan.number("period") * 1000;
        if constexpr (requires { Waker::times(plan, beat_.period); })
            beat_.drawn = Waker::times(plan, beat_.period);
        else if (plan.parameters.contains("phase") && plan.text("phase") == "drawn")
            beat_.drawn = drawn_times(plan.seed, beat_.period);
        histogram_[0].clear();
        publish();
    }

    std::optional<std::uint64_t> units_in(std::uint64_t batch_ns) const override {
        return times_in(batch_ns, beat_.period);
    }

    void run(std::uint64_t units) override {
        if (beat_.first == 0) {
            beat_.first = clock_now() + beat_.period;
            waker_.begin(beat_);
        }
        Histogram& histogram = histogram_[0];
        for (const std::uint64_t end = due_ + units; due_ != end;) {
            if (const std::uint64_t now = waker_.served(beat_, due_)) {
                recorder_.record(histogram, beat_, due_, now);
                ++due_;
                ++of_this_wake_;
                continue;
            }
            several_ += of_this_wake_ > 1;
            of_this_wake_ = 0;
            waker_.wait(beat_, due_);
        }
    }

    void publish() override {
        station_[0].turns = due_;
        probe::publish(station_[0], true);
    }
    std::span<const Station> stations() const override { return {const_cast<Wakeup*>(this)->station_.data(), 1}; }
    std::uint64_t token() const override { return due_; }
    std::uint64_t mismatches() const override { return 0; }
    Histogram* histogram() override { return histogram_.data(); }
    void counting(bool on) override {
        several_ = on ? 0 : several_;
        if constexpr (requires { waker_.counting(on); }) waker_.counting(on);
    }
    void add_counts(Counts& counts) const override {
        counts.emplace_back("wakes_for_several", several_);
        if constexpr (requires { waker_.add_counts(counts); }) waker_.add_counts(counts);
    }

private:
    SharedArray<Histogram> histogram_;
    SharedArray<Station> station_;
    Waker waker_;
    [[no_unique_address]] Recorder recorder_;
    Beat beat_;
    std::uint64_t due_ = 0;  // number of the first time that was not served
    std::uint64_t of_this_wake_ = 0;
    std::int64_t several_ = 0;
};

// For `make` of a mechanism whose ring is made by `ring`: experiment wakeup by a partner that uses the same medium.
template <class Medium, std::unique_ptr<Workload> (*ring)(const Plan&, Mode)>
std::unique_ptr<Workload> make_with_wakeup(const Plan& plan, Mode mode) {
    if (plan.experiment == "wakeup") return std::make_unique<Wakeup<PartnerWaker<Medium>>>(plan);
    return ring(plan, mode);
}

}  // namespace probe
