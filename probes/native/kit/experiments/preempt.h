// Experiment preempt: a task computes, and another one of a real-time class takes its CPU at times that are drawn
// beforehand. An interval is what the computing task loses each time. At equal distances the tick came right before
// each preemption of a start, or right after it, or never: 8 to 29 µs here, and another figure for stretches of another
// length, where drawn times give 20 to 21 whatever the length.
//
// It works in equal stretches, each once through its data, and reads the clock between them. A stretch in which the
// other task ran, and the one after it, which finds its data evicted, take longer than the two before: by the loss.
// What else slows stretches does so on both sides. Of quiet ones alone before it the loss would have the noise in it: 4
// µs of 21 here.
#pragma once

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <vector>

#include "kit/os/clock.h"
#include "kit/parameters/working_set.h"
#include "kit/plan/drawn.h"
#include "kit/plan/failure.h"
#include "kit/plan/mechanism.h"
#include "kit/ring/chain.h"
#include "kit/ring/ring.h"
#include "kit/tasks/tasks.h"

namespace probe {

class Preempt final : public Workload {
public:
    explicit Preempt(const Plan& plan)
        : station_(1),
          every_(plan.number("every") * 1000),
          seed_(plan.seed),
          lines_(plan.number("data") / 64),
          data_(std::max<std::uint64_t>(64, plan.number("data")), 1),
          others_(std::max<std::uint64_t>(64, plan.number("other_data")), 1),
          touches_others_(plan.number("other_data") != 0) {
        lost_.reserve(plan.batches + plan.warmup_batches);
        settle();
        publish();
        other_.start(&Preempt::live, this, plan.cpu_of(0), 2);
        while (begun_.load() == 0) sched_yield();
        if (begun_.load() != begun_well)
            throw unsupported("no_permission",
                              std::string("experiment=preempt: the real-time class SCHED_FIFO was refused (") +
                                  std::strerror(begun_.load()) + "); it takes CAP_SYS_NICE or RLIMIT_RTPRIO of 1",
                              begun_.load());
    }
    ~Preempt() override {
        over_.store(true);
        other_.join();
    }

    std::optional<std::uint64_t> units_in(std::uint64_t batch_ns) const override {
        return std::max<std::uint64_t>(1, batch_ns / every_);
    }

    void run(std::uint64_t units) override {
        if (gave_up_) return lost_.push_back(0);  // the start has no figure, and should end soon
        Stretch last[4] = {};
        std::int64_t lost = 0;
        std::uint64_t found = 0, runs = runs_.load(std::memory_order_relaxed), begin = clock_now();
        const std::uint64_t patience = begin + 40 * units * every_ + 1'000'000'000;
        while (found < units && begin < patience) {
            work();
            const std::uint64_t end = clock_now(), now = runs_.load(std::memory_order_relaxed);
            std::copy(last + 1, last + 4, last);
            last[3] = {end - begin, now - runs};
            begin = end;
            runs = now;
            if (last[0].came != 0 || last[1].came != 0 || last[2].came != 1 || last[3].came != 0) continue;
            lost += static_cast<std::int64_t>(last[2].took + last[3].took) -
                    static_cast<std::int64_t>(last[0].took + last[1].took);
            ++found;
        }
        found_ += found;
        gave_up_ |= found < units;
        lost_.push_back(lost > 0 ? static_cast<std::uint64_t>(lost) : 0);  // noise of both sides may exceed it
    }

    void publish() override {
        station_[0].turns = found_;
        probe::publish(station_[0], true);
    }
    std::span<const Station> stations() const override { return {const_cast<Preempt*>(this)->station_.data(), 1}; }
    std::uint64_t token() const override { return found_; }
    std::uint64_t mismatches() const override { return 0; }
    void retime(std::span<std::uint64_t> ticks) override {
        if (gave_up_)
            throw unsupported("unsupported_here",
                              "others had the CPU so long that too few preemptions could be told; measure again "
                              "when nothing else runs");
        std::copy(lost_.end() - static_cast<std::ptrdiff_t>(ticks.size()), lost_.end(), ticks.begin());
    }
    void counting(bool on) override {
        const std::uint64_t touched = lines_ == 0 ? 0 : data_.of(0).touched();
        const Counted before = on ? Counted{} : counted_;
        counted_ = {stretches_ - before.stretches, touched - before.touched, runs_.load() - before.runs};
    }
    void add_counts(Counts& counts) const override {
        const std::uint64_t due = counted_.stretches * lines_ * passes_;
        counts.emplace_back("work_missing",
                            static_cast<std::int64_t>(due) - static_cast<std::int64_t>(counted_.touched));
        counts.emplace_back("preemptions", static_cast<std::int64_t>(counted_.runs));
    }

private:
    static constexpr std::uint64_t shortest_ns = 40'000;   // beside which reading the clock is nothing
    static constexpr std::uint64_t stretches_between = 8;  // from one preemption to the next, on average
    static constexpr int begun_well = -1;
    struct Stretch {
        std::uint64_t took = 0;
        std::uint64_t came = 1;  // times that the other task ran in it
    };
    struct Counted {
        std::uint64_t stretches = 0;
        std::uint64_t touched = 0;
        std::uint64_t runs = 0;
    };

    // One stretch: the data so many times, or a chain that nothing shortens.
    void work() {
        ++stretches_;
        if (lines_ == 0) {
            product_ = chain::multiply(product_, passes_);
            return;
        }
        for (std::uint64_t left = passes_; left != 0; --left) data_.of(0).touch();
    }

    // How long a stretch is: as short as the clock allows, and whole times through the data.
    void settle() {
        const std::uint64_t most = every_ / stretches_between, due = std::min(shortest_ns, most);
        for (passes_ = 1;; passes_ *= 2) {
            std::uint64_t fastest = ~std::uint64_t{0};
            for (int i = 0; i < 5; ++i) {
                const std::uint64_t begin = clock_now();
                work();
                fastest = std::min(fastest, clock_now() - begin);
            }
            if (passes_ == 1 && fastest > most)
                throw unsupported("unsupported_here", "data=" + std::to_string(lines_ * 64) +
                                                          ": once through it takes " + std::to_string(fastest / 1000) +
                                                          " us, an eighth of `every` at most; "
                                                          "add --param every=" +
                                                          std::to_string(fastest * 10 / 1000));
            if (2 * fastest >= due) return void(passes_ = std::max<std::uint64_t>(1, passes_ * due / fastest));
        }
    }

    static void* live(void* self) {
        static_cast<Preempt*>(self)->live();
        return nullptr;
    }

    void live() {
        sched_param first{};  // musl has fields of its own in it
        first.sched_priority = 1;
        if (syscall(SYS_sched_setscheduler, 0, SCHED_FIFO, &first) != 0) {
            begun_.store(errno);
            return;
        }
        begun_.store(begun_well);
        const Beat beat{clock_now() + every_, every_, drawn_times(seed_, every_)};
        for (std::uint64_t number = 0; !over_.load(); ++number) {
            sleep_until(beat.at(number));
            if (touches_others_) others_.of(0).touch();
            runs_.store(runs_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        }
    }

    SharedArray<Station> station_;
    const std::uint64_t every_;
    const std::uint64_t seed_;
    const std::uint64_t lines_;
    WorkingSets data_;
    WorkingSets others_;
    const bool touches_others_;
    std::uint64_t passes_ = 1;
    std::uint64_t product_ = 1;
    std::uint64_t stretches_ = 0;
    std::uint64_t found_ = 0;
    bool gave_up_ = false;
    std::vector<std::uint64_t> lost_;
    Counted counted_;
    std::atomic<int> begun_{0};  // begun_well: it has; above 0: the error that kept it from it
    std::atomic<bool> over_{false};
    alignas(64) std::atomic<std::uint64_t> runs_{0};
    Threads other_;
};

}  // namespace probe
