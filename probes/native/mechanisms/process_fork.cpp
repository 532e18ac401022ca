// process/fork: what making and holding a process costs. The child counts itself in shared memory, exits, and is waited
// for.
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "kit/experiments/creation.h"
#include "kit/os/descriptor.h"
#include "kit/os/posix.h"
#include "kit/tasks/held.h"
#include "kit/tasks/processes.h"

namespace probe {
namespace {

// A word that also a program started by exec can count in: it is given the descriptor.
class CountingPage {
public:
    CountingPage() : fd_(os::anonymous_file()) {
        if (fd_.is_open() && ftruncate(fd_.get(), 4096) == 0)
            page_ = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0);
        if (page_ == MAP_FAILED) throw descriptor_limit_failure(0, 1, errno);
    }
    CountingPage(const CountingPage&) = delete;
    CountingPage& operator=(const CountingPage&) = delete;
    ~CountingPage() { munmap(page_, 4096); }

    int fd() const { return fd_.get(); }
    std::uint64_t* word() const { return static_cast<std::uint64_t*>(page_); }

private:
    Descriptor fd_;
    void* page_ = MAP_FAILED;
};

// `enter_once` is installed beside the probe.
std::string path_of_program() {
    std::string path = os::path_of_this_program();
    path = path.substr(0, path.rfind('/') + 1) + "enter_once";
    if (access(path.c_str(), X_OK) == 0) return path;
    throw unsupported("unsupported_here", path + " cannot be executed; build and install the probe again", errno);
}

enum class By { fork, vfork, posix_spawn, fork_exec };

By by_name(const std::string& name) {
    if (name == "vfork") return By::vfork;
    if (name == "posix_spawn") return By::posix_spawn;
    return name == "fork-exec" ? By::fork_exec : By::fork;
}

class ProcessCreator {
public:
    explicit ProcessCreator(const Plan& plan) : by_(by_name(plan.text("by"))), fd_text_(std::to_string(page_.fd())) {
        if (by_ == By::posix_spawn || by_ == By::fork_exec) program_ = path_of_program();
        arguments_[0] = program_.data();
        arguments_[1] = fd_text_.data();
    }

    std::uint64_t run_one(std::uint64_t token, std::uint64_t* entered) {
        const pid_t child = make(entered);
        if (child == -1) [[unlikely]]
            throw task_limit_failure("process", 0, 1, errno);
        births_.note(child);
        const int status = wait_for(child);
        if (status != 0) [[unlikely]]
            throw failed("partner_died", "a created process ended with wait status " + std::to_string(status));
        return token + 1;
    }
    std::uint64_t* counter() { return page_.word(); }
    const Births& births() const { return births_; }

private:
    // -1: errno says why.
    [[gnu::noinline]] pid_t make(std::uint64_t* entered) {
        pid_t child = -1;
        switch (by_) {
            case By::fork: child = fork(); break;
            case By::vfork: return make_by_vfork(entered);
            case By::fork_exec:
                child = fork();
                if (child == 0) execve(arguments_[0], arguments_, environment_);
                break;
            case By::posix_spawn:
                errno = posix_spawn(&child, arguments_[0], nullptr, nullptr, arguments_, environment_);
                return errno == 0 ? child : -1;
        }
        if (child != 0) return child;
        if (by_ == By::fork_exec) _exit(127);
        ++*entered;
        _exit(0);
    }

    // Alone, because the child runs on the driver's stack until it exits.
    [[gnu::noinline]] static pid_t make_by_vfork(std::uint64_t* entered) {
        const pid_t child = vfork();  // NOLINT(bugprone-unsafe-functions): it is what is measured
        if (child != 0) return child;
        ++*entered;
        _exit(0);
    }

    CountingPage page_;
    Births births_;
    const By by_;
    std::string program_;
    std::string fd_text_;
    char* arguments_[3] = {};
    char* environment_[1] = {};
};

// Forked children, asleep.
class HeldProcesses final : public Held {
public:
    explicit HeldProcesses(const Plan& plan) : Held(plan) {
        if (plan.text("by") != "fork")
            throw unsupported("unsupported_here", "footprint is measured of processes made by fork only; leave by out");
        require_memory(std::uint64_t{512 * 1024} * plan.contexts);
        kernel_before_ = settled_kernel_memory_of_machine();
        for (std::uint32_t i = 1; i < plan.contexts; ++i) {
            if (!children_.fork_child(plan.contexts)) continue;
            sleeping_.sleep_in_child(i);
            _exit(0);
        }
        sleeping_.wait_for(plan.contexts - 1);
    }

    std::optional<MemoryGain> memory_gain() const override { return gain_of(children_.ids(), kernel_before_); }

private:
    std::int64_t kernel_before_ = 0;
    Children children_;  // killed in its destructor
};

template <Mode mode>
using ProcessCreation = Creation<mode, ProcessCreator>;

std::unique_ptr<Workload> make(const Plan& plan, Mode mode) {
    if (plan.experiment == "footprint") return std::make_unique<HeldProcesses>(plan);
    return make_for_mode<ProcessCreation>(plan, mode);
}

}  // namespace

extern const Entry process_fork{"process/fork",
                                Shape::tasks,
                                {"create", "footprint"},
                                {{"by", {"fork", "vfork", "posix_spawn", "fork-exec"}}},
                                &make};

}  // namespace probe
