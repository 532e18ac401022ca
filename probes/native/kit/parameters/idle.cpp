#include "kit/parameters/idle.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "kit/os/descriptor.h"
#include "kit/os/procfs.h"
#include "kit/plan/failure.h"
#include "kit/tasks/tasks.h"

namespace probe {
namespace {

constexpr const char* latency_device = "/dev/cpu_dma_latency";

std::string idle_state(int cpu, const char* file) {
    return "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cpuidle/state0/" + file;
}

// The kernel's polling idle state is number 0 wherever there is one.
bool can_poll(int cpu) { return procfs::first_line(idle_state(cpu, "name")) == "POLL"; }

}  // namespace

// A thread on each CPU that gives way to everybody else.
class IdleCpus::Spinners {
public:
    explicit Spinners(const std::vector<int>& cpus) : spinners_(cpus.size()) {
        for (std::size_t i = 0; i < cpus.size(); ++i) {
            spinners_[i].stop = &stop_;
            threads_.start(&Spinners::spin, &spinners_[i], cpus[i], static_cast<std::uint32_t>(cpus.size()));
        }
    }
    ~Spinners() { stop_.store(true); }  // and Threads joins

    std::uint64_t fewest_turns() const {
        const auto least = std::min_element(spinners_.begin(), spinners_.end(), [](const Spinner& a, const Spinner& b) {
            return a.turns.load() < b.turns.load();
        });
        return least->turns.load();
    }

private:
    struct alignas(64) Spinner {
        std::atomic<bool>* stop = nullptr;
        std::atomic<std::uint64_t> turns{0};
    };

    static void* spin(void* argument) {
        Spinner& spinner = *static_cast<Spinner*>(argument);
        const sched_param none{};
        if (syscall(SYS_sched_setscheduler, 0, SCHED_IDLE, &none) != 0)
            return nullptr;  // no turns: the evidence lacks them
        // Without a pause instruction: a hypervisor may take a CPU that pauses for one that has nothing to do.
        while (!spinner.stop->load(std::memory_order_relaxed))
            spinner.turns.store(spinner.turns.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        return nullptr;
    }

    alignas(64) std::atomic<bool> stop_{false};
    std::vector<Spinner> spinners_;
    Threads threads_;
};

// The request to the kernel's power management, which ends when the descriptor is closed, however the probe ends.
class IdleCpus::Polling {
public:
    explicit Polling(const std::vector<int>& cpus) : cpus_(cpus) {
        if (!std::all_of(cpus.begin(), cpus.end(), can_poll)) {
            throw unsupported(
                "unsupported_here",
                "idle=poll: this kernel has no idle state that polls (cpuidle's state POLL); use idle=busy");
        }
        const std::int32_t microseconds = 0;
        if (!device_.is_open() || write(device_.get(), &microseconds, sizeof microseconds) != sizeof microseconds) {
            const int error = errno;
            throw unsupported(error == EACCES || error == EPERM ? "no_permission" : "unsupported_here",
                              std::string("idle=poll: ") + latency_device + " refused (" + std::strerror(error) +
                                  "); it needs the right to write there, or use idle=busy",
                              error);
        }
        for (const int cpu : cpus_) before_.push_back(times_polled(cpu));
    }

    // Nothing where one of the counts could not be read.
    std::optional<std::uint64_t> fewest_times() const {
        std::uint64_t fewest = ~std::uint64_t{0};
        for (std::size_t i = 0; i < cpus_.size(); ++i) {
            const auto now = times_polled(cpus_[i]);
            if (!now || !before_[i]) return std::nullopt;
            fewest = std::min(fewest, *now - *before_[i]);
        }
        return fewest;
    }

private:
    static std::optional<std::uint64_t> times_polled(int cpu) { return procfs::read_number(idle_state(cpu, "usage")); }

    std::vector<int> cpus_;
    std::vector<std::optional<std::uint64_t>> before_;
    Descriptor device_{open(latency_device, O_WRONLY | O_CLOEXEC)};
};

IdleCpus::IdleCpus(const Plan& plan) {
    const auto parameter = plan.parameters.find("idle");
    if (parameter == plan.parameters.end() || parameter->second == "system") return;
    if (plan.cpus.size() < 2) {
        throw unsupported(
            "too_few_cpus",
            "idle=" + parameter->second + " needs contexts that wait on CPUs of their own; choose placement two_cpus");
    }
    if (parameter->second == "busy") {
        spinners_ = std::make_unique<Spinners>(plan.cpus);
    } else {
        polling_ = std::make_unique<Polling>(plan.cpus);
    }
}

IdleCpus::~IdleCpus() = default;

void IdleCpus::add_counts(Counts& counts) const {
    if (spinners_) counts.emplace_back("spinner_turns", static_cast<std::int64_t>(spinners_->fewest_turns()));
    if (!polling_) return;
    if (const auto times = polling_->fewest_times())
        counts.emplace_back("idle_polls", static_cast<std::int64_t>(*times));
}

}  // namespace probe
