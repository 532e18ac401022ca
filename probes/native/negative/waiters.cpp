// Waiters that make their latencies look better than they are.
#include <dirent.h>
#include <sched.h>
#include <signal.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "kit/experiments/wakeup.h"
#include "kit/os/arch.h"
#include "mechanisms/server.h"
#include "negative/mistakes.h"

namespace probe {
namespace {

// Times that passed meanwhile are not waited for: the next one is the first that lies ahead.
struct SkipsMissed {
    void record(Histogram& histogram, Beat& beat, std::uint64_t due, std::uint64_t now) const {
        const std::uint64_t late = now - beat.at(due);
        histogram.record(late, 0);
        beat.first += late / beat.period * beat.period;
    }
};

// Each time counts from the one before as it was served, so that a late one makes the next look early.
struct FromTheWakeBefore {
    std::uint64_t last = 0;
    void record(Histogram& histogram, Beat& beat, std::uint64_t due, std::uint64_t now) {
        const std::uint64_t from = std::max(beat.at(due), last + beat.period);
        histogram.record(now > from ? now - from : 0, 0);
        last = now;
    }
};

struct Spinner : TimerWaker {
    using TimerWaker::TimerWaker;
    void wait(const Beat& beat, std::uint64_t due) const {
        while (clock_now() < beat.at(due)) arch::spin_pause();
    }
};

// Goes back to the usual class after a while, when the host has looked.
struct ClassChanger : TimerWaker {
    using TimerWaker::TimerWaker;
    void wait(const Beat& beat, std::uint64_t due) {
        if (due >= 600 && !changed_) {
            changed_ = true;
            const sched_param none{};
            sched_setscheduler(0, SCHED_OTHER, &none);
        }
        TimerWaker::wait(beat, due);
    }

private:
    bool changed_ = false;
};

// Stops whatever is called a hog.
struct HogStopper : TimerWaker {
    using TimerWaker::TimerWaker;
    void wait(const Beat& beat, std::uint64_t due) {
        if (due % 20 == 5) stop();
        TimerWaker::wait(beat, due);
    }

private:
    static void stop() {
        DIR* const all = opendir("/proc");
        while (const dirent* entry = all != nullptr ? readdir(all) : nullptr) {
            std::string name;
            std::ifstream(std::string("/proc/") + entry->d_name + "/comm") >> name;
            const int pid = std::atoi(entry->d_name);
            if (name == "switchcost-hog" && getpgid(pid) == getpgid(0)) kill(pid, SIGSTOP);
        }
        if (all != nullptr) closedir(all);
    }
};

// What the work of a request comes to, without the work.
struct ByFormula {
    static std::uint64_t multiply(std::uint64_t product, std::uint64_t steps) { return product * chain::after(steps); }
};

// No wake-up is later than a tenth of a period, as it tells.
struct Clipped {
    void record(Histogram& histogram, Beat& beat, std::uint64_t due, std::uint64_t now) const {
        histogram.record(std::min(now - beat.at(due), beat.period / 10), 0);
    }
};

// One wake-up was late by ten periods, as it tells.
struct Invented {
    void record(Histogram& histogram, Beat& beat, std::uint64_t due, std::uint64_t now) const {
        histogram.record(now - beat.at(due) + (due == 600 ? 10 * beat.period : 0), 0);
    }
};

template <class Waker, class Recorder = FromTheIntendedTime>
std::unique_ptr<Workload> make(const Plan& plan, Mode) {
    return std::make_unique<Wakeup<Waker, Recorder>>(plan);
}

Entry timer(std::unique_ptr<Workload> (*make)(const Plan&, Mode)) {
    return {"thread/timer", Shape::tasks, {"wakeup"}, {period_parameter()}, make};
}

}  // namespace

extern const Entry skipped_periods = timer(&make<TimerWaker, SkipsMissed>);
extern const Entry from_wake_before = timer(&make<TimerWaker, FromTheWakeBefore>);
extern const Entry spun_timer = timer(&make<Spinner>);
extern const Entry other_class = timer(&make<ClassChanger>);
extern const Entry clipped_lateness = timer(&make<TimerWaker, Clipped>);
extern const Entry undone_work{"thread/server", Shape::tasks, {"serve"}, serve_parameters(), &make<Server<ByFormula>>};
extern const Entry invented_lateness = timer(&make<TimerWaker, Invented>);
extern const Entry stopped_hogs = timer(&make<HogStopper>);

}  // namespace probe
