// Forked processes as contexts of a ring. A ProcessMedium is made incrementally, so that the driver never holds a
// descriptor per context:
//
//   explicit ProcessMedium(std::uint32_t contexts);    may throw Failure; has the driver's own end
//   void before_fork(std::uint32_t context);           makes what context needs; may throw Failure
//   Port in_child(std::uint32_t context);              in the child: keeps its ends, closes the others
//   void after_fork(std::uint32_t context);            in the driver: closes what only the child needs
//   Port port(0);                                      the driver's
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <cstdint>
#include <vector>

#include "kit/os/limits.h"
#include "kit/parameters/speculation.h"
#include "kit/ring/ring.h"
#include "kit/tasks/tasks.h"

namespace probe {

// Children that die with the driver. A child that ends before end_expected() makes the driver kill the others, report
// `partner_died` and exit: the ring can never complete, and the driver may be blocked for ever.
class Children {
public:
    Children();
    Children(const Children&) = delete;
    Children& operator=(const Children&) = delete;
    ~Children();  // kills what is left

    // Like fork: true in the child. Throws Failure when the system refuses.
    bool fork_child(std::uint32_t wanted);
    void end_expected();
    void wait_all();
    const std::vector<pid_t>& ids() const { return ids_; }

private:
    std::vector<pid_t> ids_;
};

// The descriptor on which the death of a partner is reported. Set once by the session.
void set_partner_death_report(int fd);

template <Mode mode, class Medium>
class ProcessRing final : public TaskRing<mode, Medium> {
public:
    explicit ProcessRing(const Plan& plan) : TaskRing<mode, Medium>(plan) {
        for (std::uint32_t i = 1; i < plan.contexts; ++i) {
            this->medium_.before_fork(i);
            pin_self(plan.cpu_of(i));  // inherited by the child, so that a refusal is noticed here
            if (children_.fork_child(plan.contexts)) child_main(i);
            this->medium_.after_fork(i);
        }
        pin_self(plan.cpu_of(0));
        this->publish();
    }

    ~ProcessRing() override {
        if (children_.ids().size() + 1 < this->contexts()) return;  // only partly made: Children kills
        children_.end_expected();
        this->send_stop();
        children_.wait_all();
    }

private:
    [[noreturn]] void child_main(std::uint32_t index) {
        auto port = this->medium_.in_child(index);
        port.send(this->serve_until_stopped(port.receive(), index, port));
        _exit(0);
    }

    Children children_;
};

}  // namespace probe
