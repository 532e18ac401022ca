#include "kit/containers/creation.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "kit/os/posix.h"

namespace probe {

ContainerCreator::ContainerCreator(const Plan& plan) : cgroups_(plan), kind_(plan, cgroups_), shared_(1) {
    cgroups_.prepare(0);
}

std::uint64_t ContainerCreator::run_one(std::uint64_t token, std::uint64_t* entered) {
    int join = -1;
    if (!cgroups_.make_prepared(join)) [[unlikely]]
        throw cgroups_.refusal(errno);
    const pid_t child = clone_container(kind_, join);
    if (child == 0) enter(join, entered);
    const int error = errno;
    if (join != -1) close(join);
    if (child == -1) [[unlikely]]
        throw clone_failure(error, 0, 1);
    births_.note(child);
    const int status = wait_for(child);
    if (shared_[0].failure.step != Step::none) [[unlikely]]
        throw step_failure(shared_[0].failure);
    if (status != 0) [[unlikely]]
        throw failed("partner_died", "a created container ended with wait status " + std::to_string(status));
    if (cgroups_.remove_prepared()) [[likely]]
        return token + 1;
    throw failed("self_check_failed",
                 std::string("a control group could not be removed (") + std::strerror(errno) + ")", errno);
}

// Number 1 of a pid namespace of its own, or it is not a container and not counted.
void ContainerCreator::enter(int join, std::uint64_t* entered) {
    shared_[0].failure = set_up_inside(kind_, join);
    if (shared_[0].failure.step == Step::none && (!kind_.namespaces || getpid() == 1)) ++*entered;
    _exit(0);
}

}  // namespace probe
