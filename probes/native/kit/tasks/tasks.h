// Threads and processes as contexts of a ring: making, placing, ending. A Medium is what a mechanism adds:
//
//   using Token = std::uint64_t (or 32 bits);
//   explicit Medium(std::uint32_t contexts);              or of the Plan; may throw Failure
//   Port port(std::uint32_t context);                     with  void send(Token)  and  Token receive()
//
// send() hands the token to the next context of the ring, receive() blocks until it comes back.
#pragma once

#include <pthread.h>

#include <cstdint>
#include <type_traits>
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

// What rings of threads, processes and containers have in common. The driver makes a port for each batch.
template <Mode mode, class Medium>
class TaskRing : public Ring<mode, typename Medium::Token, RunBy::tasks> {
    using Token = typename Medium::Token;

public:
    explicit TaskRing(const Plan& plan) : Ring<mode, Token, RunBy::tasks>(plan), medium_(made(plan)) {}

    void run(std::uint64_t units) override {
        auto port = medium_.port(0);
        this->driver().drive(units / this->contexts(), through(port));
    }
    void publish() override {
        auto port = medium_.port(0);
        this->driver().send_command(Command::report, through(port));
    }
    void counting(bool on) override {
        if constexpr (requires { medium_.counting(on); }) medium_.counting(on);
    }
    void add_counts(Counts& counts) const override {
        if constexpr (requires { medium_.add_counts(counts); }) medium_.add_counts(counts);
    }
    // Of a medium with a task of its own.
    std::vector<TaskId> tasks() const override {
        std::vector<TaskId> tasks = Workload::tasks();
        if constexpr (requires { medium_.add_tasks(tasks); }) medium_.add_tasks(tasks);
        return tasks;
    }
    std::optional<Hops> hops() const override {
        if constexpr (requires { medium_.hops(); }) return medium_.hops();
        return Ring<mode, Token, RunBy::tasks>::hops();
    }

protected:
    // A context from its first token to the command to stop; gives the token that takes that on to the next one. (With
    // the first receive and the last send in here gcc 12 compiles the loop to two instructions more.)
    template <class Port>
    [[gnu::always_inline]] Token serve_until_stopped(Token first, std::uint32_t index, Port& port) {
        return serve<mode, RunBy::tasks, Token>(this->state(), this->station_array(), index, first, through(port));
    }
    // Also works for a ring that is only partly made: the command runs on as far as there are contexts.
    void send_stop() { medium_.port(0).send(this->driver().stop_token()); }

    Medium medium_;

private:
    static Medium made(const Plan& plan) {
        if constexpr (std::is_constructible_v<Medium, const Plan&>)
            return Medium(plan);
        else
            return Medium(plan.contexts);
    }
};

template <Mode mode, class Medium>
class ThreadRing final : public TaskRing<mode, Medium> {
public:
    explicit ThreadRing(const Plan& plan) : TaskRing<mode, Medium>(plan), idle_cpus_(plan), starts_(plan.contexts) {
        try {
            for (std::uint32_t i = 1; i < plan.contexts; ++i) {
                starts_[i] = {this, i};
                threads_.start(&ThreadRing::thread_main, &starts_[i], plan.cpu_of(i), plan.contexts);
            }
        } catch (...) {
            stop();
            throw;
        }
        this->publish();  // waits until every thread has come to life, and collects their ids
    }

    ~ThreadRing() override { stop(); }

    void add_counts(Counts& counts) const override {
        TaskRing<mode, Medium>::add_counts(counts);
        idle_cpus_.add_counts(counts);
    }

private:
    struct Start {
        ThreadRing* ring;
        std::uint32_t index;
    };

    static void* thread_main(void* argument) {
        const Start start = *static_cast<Start*>(argument);
        ThreadRing& ring = *start.ring;
        auto port = ring.medium_.port(start.index);
        port.send(ring.serve_until_stopped(port.receive(), start.index, port));
        return nullptr;
    }

    void stop() {
        this->send_stop();
        threads_.join();
    }

    IdleCpus idle_cpus_;
    std::vector<Start> starts_;
    Threads threads_;
};

// Medium of a ThreadRing whose contexts each wait at a slot of their own. A Port is {Slot* own, Slot* next}.
template <class Slot, class PortType>
class SlotMedium {
public:
    using Token = std::uint64_t;
    using Port = PortType;

    explicit SlotMedium(std::uint32_t contexts) : slots_(contexts) {}
    Port port(std::uint32_t context) { return {&slots_[context], &slots_[next_in_ring(context, slots_.size())]}; }

private:
    std::vector<Slot> slots_;
};

}  // namespace probe
