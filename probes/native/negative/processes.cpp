// Rings of processes that are something else.
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <memory>

#include "kit/experiments/linked.h"
#include "kit/plan/failure.h"
#include "negative/mistakes.h"

namespace probe {
namespace {

using Token = std::uint64_t;

// Processes by their numbers, but with the driver's memory.
template <Mode mode>
class SharedMemoryRing final : public TaskRing<mode, LinkMedium<PipeLink>> {
public:
    explicit SharedMemoryRing(const Plan& plan)
        : TaskRing<mode, LinkMedium<PipeLink>>(plan), stacks_(stack_bytes * plan.contexts), starts_(plan.contexts) {
        for (std::uint32_t i = 1; i < plan.contexts; ++i) {
            starts_[i] = {this, i};
            pin_self(plan.cpu_of(i));
            const int child = clone(&SharedMemoryRing::clone_main, stacks_.data() + stack_bytes * (i + 1),
                                    CLONE_VM | CLONE_FS | CLONE_FILES | SIGCHLD, &starts_[i]);
            if (child == -1) throw task_limit_failure("process", i, plan.contexts, errno);
            ids_.push_back(child);
        }
        pin_self(plan.cpu_of(0));
        this->publish();
    }

    ~SharedMemoryRing() override {
        this->send_stop();
        for (const int id : ids_) waitpid(id, nullptr, 0);
    }

private:
    static constexpr std::size_t stack_bytes = 64 * 1024;
    struct Start {
        SharedMemoryRing* ring;
        std::uint32_t index;
    };

    static int clone_main(void* argument) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        const Start start = *static_cast<Start*>(argument);
        auto port = start.ring->medium_.port(start.index);
        port.send(start.ring->serve_until_stopped(port.receive(), start.index, port));
        return 0;
    }

    SharedArray<char> stacks_;
    std::vector<Start> starts_;
    std::vector<int> ids_;
};

// The driver and one child take the turns of all contexts: the even ones here, the odd ones there.
template <Mode mode>
class TwoOfMany final : public Ring<mode, Token, RunBy::tasks> {
public:
    explicit TwoOfMany(const Plan& plan) : Ring<mode, Token, RunBy::tasks>(plan), medium_(2) {
        if (plan.contexts % 2 != 0) throw refused("bad_value", "this mistake has an even number of contexts");
        medium_.before_fork(1);
        pin_self(plan.cpu_of(1));
        if (child_.fork_child(2)) live();
        medium_.after_fork(1);
        pin_self(plan.cpu_of(0));
        for (std::uint32_t i = 2; i < plan.contexts; i += 2) turns_.emplace_back(this->state(), i);
        publish();
    }

    ~TwoOfMany() override {
        child_.end_expected();
        round(this->driver().stop_token());
        child_.wait_all();
    }

    void run(std::uint64_t units) override {
        this->driver().drive(units / this->contexts(), [this](Token token) { return round(token); });
    }
    void publish() override {
        this->driver().send_command(Command::report, [this](Token token) { return round(token); });
    }
    std::vector<TaskId> tasks() const override {
        const std::span<const Station> stations = this->stations();
        return {{stations[0].process, stations[0].thread}, {stations[1].process, stations[1].thread}};
    }

private:
    // From context 0 until the token is back there.
    Token round(Token token) {
        auto port = medium_.port(0);
        for (auto& turn : turns_) {
            port.send(token);
            token = port.receive();
            turn.arrive(token, this->station_array());
            ++token;
        }
        port.send(token);
        return port.receive();
    }

    [[noreturn]] void live() {
        auto port = medium_.in_child(1);
        std::vector<Turn<mode, Token, RunBy::tasks>> turns;
        for (std::uint32_t i = 1; i < this->contexts(); i += 2) turns.emplace_back(this->state(), i);
        for (bool goes_on = true; goes_on;) {
            for (auto& turn : turns) {
                const Token token = port.receive();
                goes_on = turn.arrive(token, this->station_array());
                port.send(token + 1);
            }
        }
        _exit(0);
    }

    ProcessLinkMedium<PipeLink> medium_;
    Children child_;
    std::vector<Turn<mode, Token, RunBy::tasks>> turns_;
};

}  // namespace

extern const Entry clone_vm = linked_processes("process/pipe", &make_ring_for_mode<SharedMemoryRing>);
extern const Entry two_of_many = linked_processes("process/pipe", &make_ring_for_mode<TwoOfMany>);

}  // namespace probe
