#include "kit/containers/containers.h"

#include <linux/futex.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <set>
#include <utility>

#include "kit/os/posix.h"
#include "kit/tasks/tasks.h"

namespace probe {
namespace {

// Waits until the word is no longer `old`, or a fiftieth of a second where the caller has something else to look at.
void wait_for_change(std::atomic<std::uint32_t>& word, std::uint32_t old, bool briefly) {
    constexpr timespec pause = {0, 20'000'000};
    syscall(SYS_futex, &word, FUTEX_WAIT, old, briefly ? &pause : nullptr, nullptr, 0);
}

void change(std::atomic<std::uint32_t>& word, std::uint32_t value) {
    word.store(value);
    syscall(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

Failure partner_died(std::uint32_t container) {
    return failed("partner_died", "container " + std::to_string(container) +
                                      " ended by itself; see whether something kills "
                                      "processes here");
}

[[noreturn]] void leave_like(int status) {
    if (WIFSIGNALED(status)) {
        std::signal(WTERMSIG(status), SIG_DFL);
        kill(getpid(), WTERMSIG(status));
    }
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

}  // namespace

std::vector<Parameter> container_parameters() {
    return {
        {"cgroup", {"auto", "own"}},
        {"cgroup_depth", {}},
        {"cpu_quota", {"none", "150", "200", "400", "800"}},
        {"namespaces", {"all", "none"}},
        {"seccomp", {"off", "on"}},
        working_set_parameter(),
    };
}

Containers::Containers(const Plan& plan)
    : plan_(plan),
      cgroups_(plan),
      runtime_(make_container_runtime(plan, cgroups_)),
      kind_(plan, cgroups_),
      statuses_(plan.contexts),
      shared_(1),
      living_(plan.contexts) {}

Containers::~Containers() {
    if (is_launcher_) end_all();
}

std::uint32_t Containers::start() {
    for (std::uint32_t i = 0; i < plan_.contexts; ++i) {
        const int join = runtime_ ? runtime_->make(i) : cgroups_.make(i);
        pin_self(plan_.cpu_of(i));  // inherited, so that a refusal is noticed here
        const pid_t child = runtime_ ? runtime_->enter(join) : clone_container(kind_, join);
        if (child == 0) {
            begin_inside(i, join);
            return i;
        }
        const int error = errno;
        if (join != -1) close(join);
        if (child == -1) throw clone_failure(error, i, plan_.contexts);
        living_[i] = child;
        statuses_[i].id = child;
        wait_until_ready(i);
    }
    inspect();
    change(shared_[0].gate, 1);
    supervise();
}

void Containers::begin_inside(std::uint32_t container, int join) {
    is_launcher_ = false;
    cgroups_.guardian().forget();
    if (runtime_) runtime_->forget();
    ContainerStatus& own = statuses_[container];
    own.failure = runtime_ ? set_up_entered(kind_, join) : set_up_inside(kind_, join);
    if (own.failure.step == Step::none && !read_namespaces(own.namespaces)) own.failure = {Step::read_identity, errno};
    own.seccomp_mode = prctl(PR_GET_SECCOMP);
    const bool fine = own.failure.step == Step::none;
    change(own.state, fine ? ready : refused);
    if (!fine) _exit(4);
    if (container != 0) return;  // the token is its gate
    while (shared_[0].gate.load() == 0) wait_for_change(shared_[0].gate, 0, false);
}

void Containers::wait_until_ready(std::uint32_t container) {
    ContainerStatus& own = statuses_[container];
    while (own.state.load() == starting) {
        wait_for_change(own.state, starting, true);
        std::uint32_t ended = 0;
        int status = 0;
        if (reap(false, ended, status) && statuses_[ended].state.load() != refused) throw partner_died(ended);
    }
    if (own.state.load() == refused) throw step_failure(own.failure);
}

// What the containers are, as they themselves and as the launcher outside see it.
void Containers::inspect() {
    SharedState& shared = shared_[0];
    for (std::size_t kind = 0; kind < namespace_kinds.size(); ++kind) {
        std::set<std::uint64_t> ids;
        for (std::uint32_t i = 0; i < plan_.contexts; ++i) ids.insert(statuses_[i].namespaces[kind]);
        shared.distinct[kind] = static_cast<std::int64_t>(ids.size());
    }
    std::set<std::string> groups;
    for (std::uint32_t i = 0; i < plan_.contexts; ++i) {
        shared.seccomp_filters += statuses_[i].seccomp_mode == 2;
        const std::string path = cgroups_.path_of(statuses_[i].id);
        const std::string name = "/" + cgroups_.name(i);
        if (i == 0) shared.cgroup_level = path == "/" ? 0 : std::count(path.begin(), path.end(), '/');
        if (cgroups_.in_use() && path.ends_with(name)) groups.insert(path);
    }
    shared.cgroups = static_cast<std::int64_t>(groups.size());
}

void Containers::supervise() {
    for (;;) {
        std::uint32_t ended = 0;
        int status = 0;
        if (!reap(true, ended, status)) continue;
        if (ended == 0) {
            end_all();
            leave_like(status);
        }
        if (shared_[0].end_expected.load() == 0) throw partner_died(ended);
    }
}

// False: nobody has ended, or not a container.
bool Containers::reap(bool block, std::uint32_t& container, int& status) {
    const pid_t ended = waitpid(-1, &status, block ? 0 : WNOHANG);
    if (ended <= 0) return false;
    const auto found = std::find(living_.begin(), living_.end(), ended);
    if (found == living_.end()) return false;
    *found = 0;
    container = static_cast<std::uint32_t>(found - living_.begin());
    return true;
}

void Containers::end_all() {
    for (const pid_t id : living_) {
        if (id != 0) kill(id, SIGKILL);
    }
    for (pid_t& id : living_) {
        if (id != 0) wait_for(std::exchange(id, 0));
    }
    if (runtime_) runtime_->end();
    cgroups_.guardian().finish();
    while (waitpid(-1, nullptr, WNOHANG) > 0) {  // what a runtime has left to us
    }
}

void Containers::add_counts(Counts& counts) const {
    const SharedState& shared = *shared_.data();
    counts.emplace_back("cgroups", shared.cgroups);
    counts.emplace_back("cgroup_level", shared.cgroup_level);
    counts.emplace_back("cpu_controller", cgroups_.has_cpu_controller());
    counts.emplace_back("cgroup_version", kind_.cgroup_version);
    for (std::size_t kind = 0; kind < namespace_kinds.size(); ++kind) {
        counts.emplace_back(std::string("distinct_") + namespace_kinds[kind] + "_ns", shared.distinct[kind]);
    }
    counts.emplace_back("seccomp_filters", shared.seccomp_filters);
    if (plan_.text("cpu_quota") == "none") return;
    std::int64_t throttled = 0;
    for (std::uint32_t i = 0; i < plan_.contexts; ++i) throttled += cgroups_.throttled_periods(i);
    counts.emplace_back("throttled_periods", throttled);
}

}  // namespace probe
