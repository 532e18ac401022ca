// Containers as contexts of a ring. A Medium is what a mechanism adds, made before the containers and inherited by
// them:
//
//   using Token = std::uint64_t (or 32 bits);
//   explicit Medium(std::uint32_t contexts);    may throw Failure
//   Port port(std::uint32_t context);           with  void send(Token)  and  Token receive(), in whatever process
#pragma once

#include <unistd.h>

#include <memory>
#include <utility>

#include "kit/containers/containers.h"
#include "kit/tasks/tasks.h"

namespace probe {

// Made in the launcher, where it only holds what the containers share. The driver takes it over with drive(), the
// others with live().
template <Mode mode, class Medium>
class ContainerRing final : public TaskRing<mode, Medium> {
public:
    explicit ContainerRing(const Plan& plan) : TaskRing<mode, Medium>(plan) {}

    ~ContainerRing() override {
        if (!containers_) return;  // not the driver
        containers_->expect_end();
        this->send_stop();
    }

    void drive(std::unique_ptr<Containers> containers) {
        containers_ = std::move(containers);
        publish();  // waits until every container has come to life
    }

    void live(std::uint32_t index) {
        auto port = this->medium_.port(index);
        port.send(this->serve_until_stopped(port.receive(), index, port));
    }

    // In a pid namespace of its own every process is number 1; the driver's /proc is the one outside and knows them by
    // other ids.
    void publish() override {
        TaskRing<mode, Medium>::publish();
        for (std::uint32_t i = 0; i < this->contexts(); ++i) {
            Station& station = this->station_array()[i];
            station.process = station.thread = containers_->id(i);
        }
    }

    void add_counts(Counts& counts) const override { containers_->add_counts(counts); }

private:
    std::unique_ptr<Containers> containers_;
};

template <Mode mode, class Medium>
std::unique_ptr<Workload> contain(const Plan& plan) {
    auto ring = std::make_unique<ContainerRing<mode, Medium>>(plan);
    auto containers = std::make_unique<Containers>(plan);
    const std::uint32_t context = containers->start();
    if (context != 0) {
        ring->live(context);
        _exit(0);
    }
    ring->drive(std::move(containers));
    return ring;
}

template <class Medium>
std::unique_ptr<Workload> make_container_ring(const Plan& plan, Mode mode) {
    switch (mode) {
        case Mode::touching_batch: return contain<Mode::touching_batch, Medium>(plan);
        case Mode::touching_each: return contain<Mode::touching_each, Medium>(plan);
        case Mode::each: return contain<Mode::each, Medium>(plan);
        default: return contain<Mode::batch, Medium>(plan);
    }
}

}  // namespace probe
