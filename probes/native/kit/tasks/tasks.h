// Threads and processes as contexts of a ring: making, placing, ending. A Medium is what a mechanism adds:
//
//   using Token = std::uint64_t (or 32 bits);
//   explicit Medium(std::uint32_t contexts);              may throw Failure
//   Port port(std::uint32_t context);                     with  void send(Token)  and  Token receive()
//
// send() hands the token to the next context of the ring, receive() blocks until it comes back.
#pragma once

#include <pthread.h>

#include <cstdint>
#include <vector>

#include "kit/os/limits.h"
#include "kit/parameters/idle.h"
#include "kit/parameters/sched.h"
#include "kit/ring/ring.h"

namespace probe {

// Threads with small stacks, joined in the destructor. The body must come to an end once the ring is stopped.
class Threads {
public:
    Threads() = default;
    Threads(const Threads&) = delete;
    Threads& operator=(const Threads&) = delete;
    ~Threads() { join(); }

    // Throws Failure when the system refuses. `wanted` is for the message.
    void start(void* (*body)(void*), void* argument, int cpu, std::uint32_t wanted);
    void join();

private:
    std::vector<pthread_t> threads_;
};

template <Mode mode, class Medium>
class ThreadRing final : public Ring<mode, typename Medium::Token, RunBy::tasks> {
    using Token = typename Medium::Token;

public:
    explicit ThreadRing(const Plan& plan)
        : Ring<mode, Token, RunBy::tasks>(plan), idle_cpus_(plan), medium_(plan.contexts), lives_(plan.contexts) {
        try {
            for (std::uint32_t i = 1; i < plan.contexts; ++i) {
                lives_[i] = {this, i};
                threads_.start(&ThreadRing::live, &lives_[i], plan.cpu_of(i), plan.contexts);
            }
        } catch (...) {
            stop();
            throw;
        }
        publish();  // waits until every thread has come to life, and collects their ids
    }

    ~ThreadRing() override { stop(); }

    void run(std::uint64_t units) override {
        auto port = medium_.port(0);
        this->driver().drive(units / this->contexts(), pass_through(port));
    }

    void publish() override {
        auto port = medium_.port(0);
        this->driver().send_command(Command::report, pass_through(port));
    }

    std::vector<TaskId> tasks() const override {
        std::vector<TaskId> result;
        for (const Station& station : this->stations()) result.push_back({station.process, station.thread});
        return result;
    }

    void counting(bool on) override {
        if constexpr (requires { medium_.counting(on); }) medium_.counting(on);
    }
    void add_counts(Counts& counts) const override {
        if constexpr (requires { medium_.add_counts(counts); }) medium_.add_counts(counts);
        idle_cpus_.add_counts(counts);
    }

private:
    struct Life {
        ThreadRing* ring;
        std::uint32_t index;
    };

    template <class Port>
    static auto pass_through(Port& port) {
        return [&port](Token token) __attribute__((always_inline)) {
            port.send(token);
            return port.receive();
        };
    }

    static void* live(void* argument) {
        const Life life = *static_cast<Life*>(argument);
        ThreadRing& ring = *life.ring;
        auto port = ring.medium_.port(life.index);
        const Token first = port.receive();
        const Token last =
            serve<mode, RunBy::tasks, Token>(ring.state(), ring.station_array(), life.index, first, pass_through(port));
        port.send(last);  // the command to stop goes on to the next
        return nullptr;
    }

    // Also works for a ring that is only partly made: the command runs on as far as there are contexts.
    void stop() {
        medium_.port(0).send(this->driver().stop_token());
        threads_.join();
    }

    IdleCpus idle_cpus_;
    Medium medium_;
    std::vector<Life> lives_;
    Threads threads_;
};

}  // namespace probe
