#include "kit/tasks/processes.h"

#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "kit/os/posix.h"

namespace probe {
namespace {

// What the signal handler needs. Written while SIGCHLD is blocked or not yet handled.
int report_fd = 1;
const pid_t* living = nullptr;
std::size_t living_count = 0;
volatile std::sig_atomic_t ends_are_expected = 0;

constexpr char death_report[] =
    "{\"t\":\"end\",\"status\":\"failed\",\"samples\":0,\"code\":\"partner_died\","
    "\"detail\":\"a partner process ended during the measurement; see whether something kills processes "
    "here\",\"errno\":null}\n";

void kill_and_reap(const pid_t* ids, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) kill(ids[i], SIGKILL);
    for (std::size_t i = 0; i < count; ++i) wait_for(ids[i]);
}

// Only async-signal-safe calls. The messages before this one have been written, because nothing is pending during the
// silence.
void on_child_end(int) {
    if (ends_are_expected != 0) return;
    ends_are_expected = 1;
    kill_and_reap(living, living_count);
    const ssize_t sent = write(report_fd, death_report, sizeof death_report - 1);
    _exit(sent == -1 ? 2 : 1);
}

void handle_child_end(bool handle) {
    struct sigaction action = {};
    action.sa_handler = handle ? &on_child_end : SIG_DFL;
    action.sa_flags = SA_RESTART | SA_NOCLDSTOP;
    sigaction(SIGCHLD, &action, nullptr);
}

class ChildSignalBlocked {
public:
    ChildSignalBlocked() {
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, SIGCHLD);
        sigprocmask(SIG_BLOCK, &set, &old_);
    }
    ~ChildSignalBlocked() { sigprocmask(SIG_SETMASK, &old_, nullptr); }

private:
    sigset_t old_;
};

}  // namespace

void set_partner_death_report(int fd) { report_fd = fd; }

Children::Children() {
    ends_are_expected = 0;
    living = nullptr;
    living_count = 0;
    handle_child_end(true);
}

Children::~Children() {
    end_expected();
    kill_and_reap(ids_.data(), ids_.size());
    handle_child_end(false);
}

bool Children::fork_child(std::uint32_t wanted) {
    const ChildSignalBlocked blocked;
    const pid_t driver = getpid();
    ids_.reserve(wanted);
    const pid_t child = fork();
    if (child == -1) throw task_limit_failure("process", static_cast<std::uint32_t>(ids_.size()) + 1, wanted, errno);
    if (child == 0) {
        os::end_with_parent();
        if (getppid() != driver) _exit(0);  // the driver died before the line above
        handle_child_end(false);
        return true;
    }
    ids_.push_back(child);
    living = ids_.data();
    living_count = ids_.size();
    return false;
}

void Children::end_expected() { ends_are_expected = 1; }

void Children::wait_all() {
    for (const pid_t child : ids_) wait_for(child);
    ids_.clear();
}

}  // namespace probe
