// N sandboxes of gVisor, the first process of each a context of one ring of pipes (inside_sandbox.cpp). A sandbox has a
// kernel of its own in user space, the sentry: nobody can enter from outside, its counters are its own, and its clock,
// too. So the driver runs inside, takes orders, and tells what its clock says; what the kernel outside knows of a
// sandbox's processes is read outside.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "kit/os/descriptor.h"
#include "kit/plan/mechanism.h"
#include "kit/tasks/guardian.h"
#include "sandbox_messages.h"
#include "temporary_folder.h"

namespace probe {

class Sandboxes {
public:
    explicit Sandboxes(const Plan& plan);  // starts them all; throws Failure
    Sandboxes(const Sandboxes&) = delete;
    Sandboxes& operator=(const Sandboxes&) = delete;
    ~Sandboxes() { end(); }

    // Context 0's answer. Throws Failure when a sandbox is gone.
    Answer ask(std::uint64_t laps);
    // What every context says of itself: a lap with a command, and context 0's answer first.
    std::vector<Answer> report();

    // Finds the host's processes of all sandboxes: sentries, and stubs, in whose address spaces the contexts run. Once
    // those run, none is added, but threads are.
    void find_processes();
    // Threads of these processes now.
    std::vector<TaskId> tasks(std::uint32_t sandbox) const;
    pid_t sentry(std::uint32_t sandbox) const { return sandboxes_[sandbox].sentry; }

private:
    struct Sandbox {
        pid_t runtime = 0;  // `runsc run`, our child, which waits
        pid_t sentry = 0;
        Descriptor socket;  // to the context
        std::vector<int> processes = {};
    };

    void start(std::uint32_t sandbox, int ring_read, int ring_write);
    void wait_until_alive(std::uint32_t sandbox);
    Answer read_answer(std::uint32_t sandbox) const;
    std::string config(std::uint32_t sandbox) const;
    [[noreturn]] void execute(std::uint32_t sandbox, int ring_read, int ring_write, int socket) const;
    void end();

    const Plan& plan_;
    std::string program_;
    TemporaryFolder folder_;
    Guardian guardian_;
    std::vector<Sandbox> sandboxes_;
};

}  // namespace probe
