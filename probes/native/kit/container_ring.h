// Containers as contexts of a ring. A Medium is what a mechanism adds, made before the containers and inherited by them:
//
//   using Token = std::uint64_t (or 32 bits);
//   explicit Medium(std::uint32_t contexts);    may throw Failure
//   Port port(std::uint32_t context);           with  void send(Token)  and  Token receive(), in whatever process
#pragma once

#include <unistd.h>

#include <memory>
#include <utility>
#include <vector>

#include "kit/containers.h"
#include "kit/evidence.h"
#include "kit/ring.h"

namespace probe {

// Made in the launcher, where it only holds what the containers share. The driver takes it over with drive(), the others with live().
template <Mode mode, class Medium>
class ContainerRing final : public Ring<mode, typename Medium::Token> {
    using Token = typename Medium::Token;

public:
    explicit ContainerRing(const Plan& plan) : Ring<mode, Token>(plan, true), medium_(plan.contexts) {}

    ~ContainerRing() override {
        if (!containers_) return;  // not the driver
        if (is_last_) containers_->expect_end();
        medium_.port(0).send(this->driver().stop_token());
    }

    // `is_last`: no other ring of the same containers comes after this one.
    void drive(std::shared_ptr<Containers> containers, bool is_last) {
        containers_ = std::move(containers);
        is_last_ = is_last;
        publish();  // waits until every container has come to life
    }

    void live(std::uint32_t index) {
        auto port = medium_.port(index);
        const Token first = port.receive();
        port.send(serve<mode, Token>(this->state(), this->station_array(), index, first, pass_through(port)));
    }

    void run(std::uint64_t units) override {
        auto port = medium_.port(0);
        this->driver().drive(units / this->contexts(), pass_through(port));
    }

    // In a pid namespace of its own every process is number 1; the driver's /proc is the one outside and knows them by other ids.
    void publish() override {
        auto port = medium_.port(0);
        this->driver().send_command(Command::report, pass_through(port));
        for (std::uint32_t i = 0; i < this->contexts(); ++i) {
            Station& station = this->station_array()[i];
            station.process = station.thread = containers_->id(i);
        }
    }

    std::vector<TaskId> tasks() const override {
        std::vector<TaskId> result;
        for (const Station& station : this->stations()) result.push_back({station.process, station.thread});
        return result;
    }

    void add_counts(Counts& counts) const override { containers_->add_counts(counts); }

private:
    template <class Port>
    static auto pass_through(Port& port) {
        return [&port](Token token) __attribute__((always_inline)) {
            port.send(token);
            return port.receive();
        };
    }

    Medium medium_;
    std::shared_ptr<Containers> containers_;
    bool is_last_ = false;
};

// The session asks twice, for the measurement and then for the verification. Both rings are made the first time, before the
// containers, which serve one after the other: what is verified is what was measured.
template <Mode verifying, class Medium>
struct LaterVerification {
    std::unique_ptr<ContainerRing<verifying, Medium>> ring;
    std::shared_ptr<Containers> containers;
};

template <Mode mode, Mode verifying, class Medium>
std::unique_ptr<Workload> contain(const Plan& plan, LaterVerification<verifying, Medium>& later) {
    auto ring = std::make_unique<ContainerRing<mode, Medium>>(plan);
    Plan short_plan = plan;
    const char* why_not = nullptr;
    short_plan.verify_units = verification_units(plan, *find_entry(plan.mechanism), why_not);
    if (short_plan.verify_units != 0) later.ring = std::make_unique<ContainerRing<verifying, Medium>>(short_plan);

    auto containers = std::make_shared<Containers>(plan);
    const std::uint32_t context = containers->start();
    if (context != 0) {
        ring->live(context);
        ring.reset();  // with its working set, before the other ring touches another
        if (later.ring) later.ring->live(context);
        _exit(0);
    }
    later.containers = containers;
    ring->drive(std::move(containers), !later.ring);
    return ring;
}

template <Mode batch, Mode each, Mode verifying, class Medium>
std::unique_ptr<Workload> contain_or_verify(const Plan& plan, Mode mode) {
    static LaterVerification<verifying, Medium> later;
    if (mode == verifying) {
        later.ring->drive(later.containers, true);
        return std::move(later.ring);
    }
    return mode == each ? contain<each>(plan, later) : contain<batch>(plan, later);
}

template <class Medium>
std::unique_ptr<Workload> make_container_ring(const Plan& plan, Mode mode) {
    if (touches(mode)) {
        return contain_or_verify<Mode::touching_batch, Mode::touching_each, Mode::touching_verify, Medium>(plan, mode);
    }
    return contain_or_verify<Mode::batch, Mode::each, Mode::verify, Medium>(plan, mode);
}

}  // namespace probe
