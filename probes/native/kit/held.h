// Tasks that run once and then sleep until they are told to end: experiment footprint of threads and processes.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

#include "kit/footprint.h"
#include "kit/shared.h"

namespace probe {

// Shared by the driver and its contexts, whether threads or processes. Context i of the plan uses station i; the driver is 0.
class Dormitory {
public:
    explicit Dormitory(std::uint32_t contexts) : state_(1), stations_(contexts) {
        for (std::uint32_t i = 0; i < contexts; ++i) stations_[i] = {};  // touched before the memory is read
    }

    // Called by a context: counts itself and sleeps.
    void sleep(std::uint32_t context) {
        stations_[context].turns = 1;
        state_[0].arrived.fetch_add(1);
        futex(state_[0].arrived, FUTEX_WAKE, 1);
        while (state_[0].end.load() == 0) futex(state_[0].end, FUTEX_WAIT, 0);
    }

    void wait_for(std::uint32_t count) {
        for (std::uint32_t now; (now = state_[0].arrived.load()) < count;) futex(state_[0].arrived, FUTEX_WAIT, now);
    }

    void wake_all() {
        state_[0].end.store(1);
        futex(state_[0].end, FUTEX_WAKE, 1 << 30);
    }

    std::span<const Station> stations() const { return {stations_.data(), stations_.size()}; }

private:
    struct State {
        std::atomic<std::uint32_t> arrived;
        std::atomic<std::uint32_t> end;
    };
    static void futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value) {
        syscall(SYS_futex, &word, operation, value, nullptr, nullptr, 0);
    }

    SharedArray<State> state_;
    SharedArray<Station> stations_;
};

// What threads and processes answer alike.
class Held : public Workload {
public:
    explicit Held(const Plan& plan) : dormitory_(plan.contexts) {}
    void run(std::uint64_t) override {}
    std::span<const Station> stations() const override { return dormitory_.stations(); }
    std::uint64_t token() const override { return 0; }
    std::uint64_t mismatches() const override { return 0; }

protected:
    Dormitory dormitory_;
};

}  // namespace probe
