// Tasks that run once and then sleep until they are told to end: experiment footprint of threads and processes.
#pragma once

#include "kit/os/memory.h"
#include "kit/ring/links.h"
#include "kit/ring/shared.h"

namespace probe {

// Shared by the driver and its contexts, whether threads or processes. Context i of the plan uses station i; the driver
// is 0. Whoever is there writes a byte into one pipe and blocks in a read of the other, into which nobody ever writes:
// what wakes the sleepers is its end.
class SleepingTasks {
public:
    explicit SleepingTasks(std::uint32_t contexts)
        : stations_(contexts), arrivals_(open_link<PipeLink>(0, contexts)), end_(open_link<PipeLink>(0, contexts)) {
        for (std::uint32_t i = 0; i < contexts; ++i) stations_[i] = {};  // touched before the memory is read
    }
    SleepingTasks(const SleepingTasks&) = delete;
    SleepingTasks& operator=(const SleepingTasks&) = delete;

    // Called by a context: counts itself, if it runs as it should, and sleeps.
    void sleep(std::uint32_t context, bool as_it_should = true) {
        stations_[context].turns = as_it_should;
        char nothing = 0;
        if (write_whole(arrivals_.write.get(), &nothing, 1)) read_whole(end_.read.get(), &nothing, 1);
    }

    // The same in a process of its own. It gives up the driver's ends, so that the end of the driver also ends the
    // sleep.
    void sleep_in_child(std::uint32_t context, bool as_it_should = true) {
        wake_all();
        sleep(context, as_it_should);
    }

    void wait_for(std::uint32_t count) {
        char byte = 0;
        for (; count != 0 && read_whole(arrivals_.read.get(), &byte, 1); --count) {}
    }

    // Also those who have found the pipe of arrivals full, because nobody came to wait for them.
    void wake_all() {
        end_.write.reset();
        arrivals_.read.reset();
    }

    std::span<const Station> stations() const { return {stations_.data(), stations_.size()}; }

private:
    SharedArray<Station> stations_;
    LinkEnds arrivals_;
    LinkEnds end_;
};

// What threads and processes answer alike.
class Held : public Workload {
public:
    explicit Held(const Plan& plan) : sleeping_(plan.contexts) {}
    void run(std::uint64_t) override {}
    std::span<const Station> stations() const override { return sleeping_.stations(); }
    std::uint64_t token() const override { return 0; }
    std::uint64_t mismatches() const override { return 0; }

protected:
    SleepingTasks sleeping_;
};

}  // namespace probe
