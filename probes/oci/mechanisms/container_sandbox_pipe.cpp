// container/sandbox-pipe: a ring of pipes between the first processes of sandboxes of gVisor. The launcher outside
// gives the orders, speaks the protocol and reads the evidence of the kernel outside; the driver, its loop and its
// clock are inside (inside_sandbox.cpp).
#include <sys/stat.h>
#include <time.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include "kit/containers/inside.h"
#include "kit/containers/runtime.h"
#include "kit/os/clock.h"
#include "kit/os/procfs.h"
#include "runtime_program.h"
#include "sandboxes.h"

namespace probe {
namespace {

// The sandbox's clock, read between two readings of ours.
struct ClockReading {
    std::uint64_t before = 0;
    std::uint64_t inside = 0;
    std::uint64_t after = 0;
};

// Of one thread, as /proc tells: fields of `stat` (proc(5)) behind the name, which may hold anything.
struct HostTask {
    std::uint64_t minor_faults = 0;
    std::uint64_t major_faults = 0;
    int cpu = -1;

    explicit HostTask(const TaskId& task) {
        constexpr int minor = 10, major = 12, last_cpu = 39;
        std::ifstream file("/proc/" + std::to_string(task.process) + "/task/" + std::to_string(task.thread) + "/stat");
        std::string line;
        std::getline(file, line);
        const std::size_t bracket = line.rfind(')');
        if (bracket == std::string::npos) return;
        std::istringstream fields(line.substr(bracket + 4));  // behind the state, which is field 3
        std::uint64_t value = 0;                              // what is negative wraps round, and is not asked for
        for (int field = 4; field <= last_cpu && fields >> value; ++field) {
            if (field == minor) minor_faults = value;
            if (field == major) major_faults = value;
            if (field == last_cpu) cpu = static_cast<int>(value);
        }
    }
};

class SandboxRing final : public Workload {
public:
    explicit SandboxRing(const Plan& plan) : plan_(plan), sandboxes_(plan), stations_(plan.contexts) {
        inside_ns_.reserve(plan.warmup_batches + plan.batches + 100);
        // The sentries start threads as they need them, most of them now.
        constexpr std::uint64_t rehearsal = 400;
        run(std::max<std::uint64_t>(rehearsal, plan.contexts));
        sandboxes_.find_processes();
    }

    void run(std::uint64_t units) override {
        last_ = sandboxes_.ask(units / plan_.contexts);
        inside_ns_.push_back(last_.nanoseconds);
    }

    void retime(std::span<std::uint64_t> ticks) override {
        check_clock();
        std::copy_n(inside_ns_.end() - static_cast<std::ptrdiff_t>(ticks.size()), ticks.size(), ticks.begin());
    }

    // Called before the first batch, ahead of the reading of the kernel's counters, and after the last one, behind it.
    void publish() override {
        const std::vector<Answer> answers = sandboxes_.report();
        last_ = answers[0];
        for (std::uint32_t i = 0; i < plan_.contexts; ++i) {
            stations_[i].turns = answers[i].turns;
            stations_[i].mismatches = answers[i].mismatches;
            read_host_counters(i);
        }
        if (first_.after == 0) {
            first_ = read_clocks();
        } else {
            second_ = later(first_.after);
        }
    }

    std::span<const Station> stations() const override { return stations_; }
    std::uint64_t token() const override { return last_.token; }
    std::uint64_t mismatches() const override { return last_.mismatches; }

    // All that were ever seen: of one that has ended no counter can be read any more, and then no sum is given instead
    // of one too small.
    std::vector<TaskId> tasks() const override {
        for (std::uint32_t i = 0; i < plan_.contexts; ++i) {
            for (const TaskId& task : sandboxes_.tasks(i)) known_.emplace(task.thread, task.process);
        }
        std::vector<TaskId> result;
        for (const auto& [thread, process] : known_) result.push_back({process, thread});
        return result;
    }

    void counting(bool on) override {
        const std::optional<std::int64_t> stops = stub_switches();
        if (on) {
            stub_switches_ = stops;
        } else if (stub_switches_) {
            stub_switches_ = stops ? std::optional(*stops - *stub_switches_) : std::nullopt;
        }
        if (on) known_at_begin_ = known_.size();
    }

    void add_counts(Counts& counts) const override {
        counts.emplace_back("host_tasks_born", known_.size() - known_at_begin_);
        if (plan_.text("platform") == "ptrace" && stub_switches_) counts.emplace_back("stub_switches", *stub_switches_);
        counts.emplace_back("clock_inside_ns", inside());
        counts.emplace_back("clock_outside_ns", (longest() + shortest()) / 2);
        for (const char* kind : namespace_kinds) {
            std::set<ino_t> ids;
            for (std::uint32_t i = 0; i < plan_.contexts; ++i) {
                struct stat status{};
                const std::string path = "/proc/" + std::to_string(sandboxes_.sentry(i)) + "/ns/" + kind;
                if (stat(path.c_str(), &status) == 0) ids.insert(status.st_ino);
            }
            if (!ids.empty()) counts.emplace_back(std::string("distinct_") + kind + "_ns", ids.size());
        }
    }

private:
    // A sandbox is many tasks of the host: its page faults are theirs, its CPU is one that is not in the plan if any of
    // them ran there.
    void read_host_counters(std::uint32_t sandbox) {
        Station& station = stations_[sandbox];
        station.process = station.thread = sandboxes_.sentry(sandbox);
        station.space =
            static_cast<std::uint32_t>(station.process);  // a program of its own, started by its own `runsc run`
        station.minor_faults = station.major_faults = 0;
        station.cpu = -1;
        for (const TaskId& id : sandboxes_.tasks(sandbox)) {
            const HostTask task(id);
            station.minor_faults += task.minor_faults;
            station.major_faults += task.major_faults;
            if (station.cpu == -1 || task.cpu != plan_.cpu_of(sandbox)) station.cpu = task.cpu;
        }
    }

    // Voluntary switches of traced tasks so far: on the platform ptrace a stub stops, and leaves the CPU, at each
    // system call of its context. None where a task has ended, as in tasks().
    std::optional<std::int64_t> stub_switches() const {
        std::vector<TaskId> stubs;
        for (const TaskId& task : tasks()) {
            const std::string status =
                "/proc/" + std::to_string(task.process) + "/task/" + std::to_string(task.thread) + "/status";
            const auto tracer = procfs::read_field(status.c_str(), "\nTracerPid:");
            if (!tracer) return std::nullopt;
            if (*tracer != 0) stubs.push_back(task);
        }
        const auto switches = procfs::kernel_switches(stubs);
        if (!switches) return std::nullopt;
        return static_cast<std::int64_t>(switches->voluntary);
    }

    ClockReading read_clocks() {
        ClockReading best;
        for (int attempt = 0; attempt < 10; ++attempt) {
            ClockReading one;
            one.before = clock_now();
            one.inside = sandboxes_.ask(0).clock;
            one.after = clock_now();
            if (attempt == 0 || one.after - one.before < best.after - best.before) best = one;
        }
        return best;
    }

    // Two readings are distinguished to some 100 us, of which 1 % must be the most.
    ClockReading later(std::uint64_t first) {
        constexpr std::uint64_t least_ns = 40'000'000;
        const std::uint64_t elapsed = clock_now() - first;
        if (elapsed < least_ns) {
            const timespec pause = {0, static_cast<long>(least_ns - elapsed)};
            nanosleep(&pause, nullptr);
        }
        return read_clocks();
    }

    std::int64_t inside() const { return static_cast<std::int64_t>(second_.inside - first_.inside); }
    std::int64_t shortest() const { return static_cast<std::int64_t>(second_.before - first_.after); }
    std::int64_t longest() const { return static_cast<std::int64_t>(second_.after - first_.before); }

    void check_clock() const {
        if (inside() <= longest() + longest() / 100 && inside() >= shortest() - shortest() / 100) return;
        throw unsupported("unsupported_here",
                          "the sandbox's clock went on by " + std::to_string(inside()) +
                              " ns while the host's went on by " + std::to_string(shortest()) + " to " +
                              std::to_string(longest()) +
                              ": more than 1 % apart, so that it times nothing; use another platform");
    }

    const Plan plan_;
    Sandboxes sandboxes_;
    std::vector<Station> stations_;
    std::vector<std::uint64_t> inside_ns_;  // of every batch
    Answer last_;
    ClockReading first_, second_;
    mutable std::map<int, int> known_;  // threads of the host that are or were the sandboxes', and their processes
    std::size_t known_at_begin_ = 0;
    std::optional<std::int64_t> stub_switches_;
};

std::unique_ptr<Workload> make(const Plan& plan, Mode) {
    if (plan.timing == Timing::each) {
        throw unsupported("unsupported_here",
                          "timing=each needs memory that both contexts of a switch write to, and two sandboxes share "
                          "none; use timing=batch");
    }
    return std::make_unique<SandboxRing>(plan);
}

}  // namespace

extern const Entry container_sandbox_pipe{
    "container/sandbox-pipe", Shape::foreign, {"switch"}, {{"platform", {"ptrace", "systrap", "kvm"}}}, &make,
    &runtime_missing};

}  // namespace probe
