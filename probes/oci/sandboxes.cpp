#include "sandboxes.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <sstream>

#include "kit/os/limits.h"
#include "kit/os/posix.h"
#include "kit/os/procfs.h"
#include "kit/ring/links.h"
#include "runtime_program.h"

namespace probe {
namespace {

namespace fs = std::filesystem;

// A sandbox starts in half a second; gVisor's platform kvm has been seen to hang instead.
constexpr int start_timeout_ms = 20'000;
// Resident memory of a sentry, its stubs and its gofer, generously.
constexpr std::uint64_t sandbox_bytes = 64 << 20;

// Processes that descend from `ancestor`, itself first.
std::vector<int> family(int ancestor) {
    std::multimap<int, int> children;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator("/proc", error)) {
        const int id = std::atoi(entry.path().filename().c_str());
        if (id == 0) continue;
        const auto parent = procfs::read_field((entry.path() / "status").c_str(), "\nPPid:");
        if (parent) children.emplace(static_cast<int>(*parent), id);
    }
    std::vector<int> result = {ancestor};
    for (std::size_t i = 0; i < result.size(); ++i) {
        const auto [from, to] = children.equal_range(result[i]);
        for (auto child = from; child != to; ++child) result.push_back(child->second);
    }
    return result;
}

// Of a sentry that could not begin, or go on, `runsc run` says nothing but that it ended. A sandbox is some 35 tasks,
// its runsc included.
Few few(std::uint32_t wanted) { return {64 * (wanted + std::uint64_t{1}), 512}; }

Failure refusal(std::uint32_t sandbox, std::uint32_t wanted, const std::string& words) {
    return runtime_refusal(sandbox, words, few(wanted),
                           "run it by hand to see whether it works here, or use another platform");
}

}  // namespace

Sandboxes::Sandboxes(const Plan& plan) : plan_(plan), program_(find_runtime()), sandboxes_(plan.contexts) {
    require_memory(sandbox_bytes * plan.contexts, "use fewer contexts");
    prctl(PR_SET_CHILD_SUBREAPER, 1);  // whoever outlives `runsc run` is ours to reap
    folder_.begin(guardian_);
    try {
        folder_.make_root("inside");
        const std::vector<LinkEnds> ring = open_ring<PipeLink>(plan.contexts);
        for (std::uint32_t i = 0; i < plan.contexts; ++i) {
            // All threads of a sentry and all its stubs inherit this affinity, so that the whole sandbox stays on the
            // CPU.
            pin_self(plan.cpu_of(i));
            start(i, ring[i].read.get(), ring[next_in_ring(i, plan.contexts)].write.get());
        }
        pin_self(plan.cpu_of(0));
        for (std::uint32_t i = 0; i < plan.contexts; ++i) wait_until_alive(i);
    } catch (...) {
        end();
        throw;
    }
}

void Sandboxes::start(std::uint32_t sandbox, int ring_read, int ring_write) {
    const std::string directory = std::to_string(sandbox);
    folder_.make_directory(directory);
    folder_.make_file(directory + "/config.json", config(sandbox));
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        throw descriptor_limit_failure(sandbox, plan_.contexts, errno);
    const pid_t launcher = getpid();
    const pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != launcher) _exit(0);  // it died before the line above
        execute(sandbox, ring_read, ring_write, ends[1]);
    }
    close(ends[1]);
    sandboxes_[sandbox].runtime = std::max(child, 0);
    sandboxes_[sandbox].socket = Descriptor(ends[0]);
    if (child == -1) throw task_limit_failure("process", sandbox, plan_.contexts, errno);
}

// In the child. `run` without --detach stays and waits; sentry and gofer are asked by it to die when it does.
void Sandboxes::execute(std::uint32_t sandbox, int ring_read, int ring_write, int socket) const {
    const std::string directory = std::to_string(sandbox);
    const std::string name =
        folder_.name() + "-" + directory;  // also its control socket's, which all of the network namespace see
    const std::string root = "--root=" + folder_.path("state");
    const std::string platform = "--platform=" + plan_.text("platform");
    const std::string folder = "--bundle=" + folder_.path(directory);
    const std::string pid_file = "--pid-file=" + folder_.path(directory + "/pid");
    std::vector<const char*> arguments = {runtime_name.c_str(), root.c_str(), platform.c_str(), "--network=none",
                                          "--ignore-cgroups"};
    if (geteuid() != 0) arguments.push_back("--rootless");
    for (const std::string* more : {&folder, &pid_file, &name}) {
        if (more == &folder) arguments.push_back("run");
        arguments.push_back(more->c_str());
    }
    arguments.push_back(nullptr);
    // The lifeline holds the guardian back while any process of the sandbox may still write to the folder. Its number
    // is beyond those that the runtime hands on to its own children.
    constexpr int beyond = 100, beyond_stdio = 10;
    int lifeline = fcntl(guardian_.lifeline(), F_DUPFD, beyond);
    if (lifeline == -1) lifeline = fcntl(guardian_.lifeline(), F_DUPFD, beyond_stdio);
    const std::array<int, 3> ends = {fcntl(ring_read, F_DUPFD, beyond_stdio), fcntl(ring_write, F_DUPFD, beyond_stdio),
                                     fcntl(socket, F_DUPFD, beyond_stdio)};
    for (int number = 0; number < 3; ++number) dup2(ends[static_cast<std::size_t>(number)], number);
    if (lifeline > 3) syscall(SYS_close_range, 3u, static_cast<unsigned>(lifeline - 1), 0u);
    syscall(SYS_close_range, static_cast<unsigned>(std::max(lifeline, 2) + 1), ~0u, 0u);
    // Should the runtime mount something and be killed, the mount is nobody else's.
    if (unshare(CLONE_NEWNS) == 0) mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
    // The sentry, as nobody, mounts its root there, and cannot enter a folder of the user's alone. The mount is in its
    // own namespace.
    unsetenv("TMPDIR");
    execv(program_.c_str(), const_cast<char* const*>(arguments.data()));  // it does not write to them
    _exit(127);
}

// Until the context inside says that it is alive, whatever comes are words of the runtime.
void Sandboxes::wait_until_alive(std::uint32_t sandbox) {
    Sandbox& one = sandboxes_[sandbox];
    std::string said;
    for (;;) {
        pollfd something = {one.socket.get(), POLLIN, 0};
        const int ready = poll(&something, 1, start_timeout_ms);
        if (ready == -1 && errno == EINTR) continue;
        if (ready == 0) {
            throw unsupported("unsupported_here", runtime_name + " did not start a sandbox within " +
                                                      std::to_string(start_timeout_ms / 1000) + " s on platform=" +
                                                      plan_.text("platform") + "; use another platform");
        }
        char words[4096];
        const ssize_t got = read(one.socket.get(), words, sizeof words);
        if (got == -1 && errno == EINTR) continue;
        if (got <= 0) throw refusal(sandbox, plan_.contexts, last_words(said));
        said.append(words, static_cast<std::size_t>(got));
        if (said.size() < sizeof(Answer)) continue;
        Answer alive;
        std::memcpy(static_cast<void*>(&alive), said.data() + said.size() - sizeof alive, sizeof alive);
        if (alive.mark == Answer::magic) break;
    }
    std::istringstream(folder_.text_of(std::to_string(sandbox) + "/pid")) >> one.sentry;
    if (one.sentry == 0) throw refusal(sandbox, plan_.contexts, "it wrote no --pid-file");
}

Answer Sandboxes::read_answer(std::uint32_t sandbox) const {
    Answer answer;
    if (read_whole(sandboxes_[sandbox].socket.get(), &answer, sizeof answer) && answer.mark == Answer::magic)
        return answer;
    if (const auto limit = low_limit(sandbox, few(plan_.contexts))) throw *limit;
    throw failed("partner_died", "a sandbox ended during the measurement; see whether something kills processes here");
}

Answer Sandboxes::ask(std::uint64_t laps) {
    const Order order = {laps};
    write_whole(sandboxes_[0].socket.get(), &order, sizeof order);  // where nobody reads any more, nobody answers
    return read_answer(0);
}

std::vector<Answer> Sandboxes::report() {
    std::vector<Answer> result = {ask(Order::report)};
    for (std::uint32_t i = 1; i < plan_.contexts; ++i) result.push_back(read_answer(i));
    return result;
}

void Sandboxes::find_processes() {
    for (Sandbox& one : sandboxes_) one.processes = family(one.sentry);
}

std::vector<TaskId> Sandboxes::tasks(std::uint32_t sandbox) const {
    std::vector<TaskId> result;
    for (const int process : sandboxes_[sandbox].processes) {
        std::error_code error;
        for (const auto& entry : fs::directory_iterator("/proc/" + std::to_string(process) + "/task", error)) {
            result.push_back({process, std::atoi(entry.path().filename().c_str())});
        }
    }
    return result;
}

std::string Sandboxes::config(std::uint32_t sandbox) const {
    return R"({"ociVersion":"1.0.2","process":{"terminal":false,"user":{"uid":0,"gid":0},"args":["/inside",")" +
           std::to_string(sandbox) + "\",\"" + std::to_string(plan_.contexts) +
           R"("],"env":[],"cwd":"/","noNewPrivileges":true},"root":{"path":")" + folder_.path("root") +
           R"(","readonly":true},"hostname":"switchcost","linux":{"namespaces":[{"type":"pid"},)"
           R"({"type":"mount"},{"type":"network"},{"type":"ipc"},{"type":"uts"}]}})";
}

void Sandboxes::end() {
    for (Sandbox& one : sandboxes_) {
        if (one.sentry != 0) kill(one.sentry, SIGKILL);
        if (one.runtime != 0) kill(one.runtime, SIGKILL);
        one.socket.reset();
    }
    for (Sandbox& one : sandboxes_) {
        if (one.runtime != 0) wait_for(one.runtime);
        one = {};
    }
    guardian_.finish();  // it waits for the rest of them
    while (waitpid(-1, nullptr, WNOHANG) > 0) {}
}

}  // namespace probe
