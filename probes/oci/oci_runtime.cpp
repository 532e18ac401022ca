#include "oci_runtime.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/sched.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <initializer_list>
#include <sstream>
#include <vector>

#include "kit/containers/inside.h"
#include "kit/containers/runtime.h"
#include "kit/os/limits.h"
#include "kit/os/posix.h"
#include "kit/os/procfs.h"
#include "kit/ring/links.h"
#include "kit/ring/shared.h"
#include "kit/tasks/guardian.h"
#include "runtime_program.h"
#include "temporary_folder.h"

namespace probe {
namespace {

// The files through which a process joins all groups that another one is in.
std::vector<std::string> group_files_of(const std::string& process) {
    std::vector<std::string> result;
    const std::vector<CgroupMount> mounts = cgroup_mounts();
    for (const auto& [controllers, path] : procfs::cgroups_of(process)) {
        const std::string first = controllers.substr(0, controllers.find(','));
        const auto mount = std::find_if(mounts.begin(), mounts.end(), [&](const CgroupMount& candidate) {
            return first.empty() ? candidate.controllers.empty() : has_item(candidate.controllers, first, ',');
        });
        if (mount == mounts.end()) continue;
        const bool below_root = mount->root != "/" && path.starts_with(mount->root);
        result.push_back(mount->directory + path.substr(below_root ? mount->root.size() : 0) + "/cgroup.procs");
    }
    return result;
}

class OciRuntime final : public ContainerRuntime {
public:
    OciRuntime(const Plan& plan, const ContainerCgroups& cgroups)
        : plan_(plan), cgroups_(cgroups), program_(find_runtime()) {
        if (plan.text("namespaces") != "all")
            throw refuse_parameter("namespaces=none", "a runtime's container has them all");
        if (plan.number("cgroup_depth") == 0)
            throw refuse_parameter("cgroup_depth=0", "a runtime makes a control group");
        prctl(PR_SET_CHILD_SUBREAPER,
              1);  // the runtime leaves the first process of a container to its nearest ancestor
        folder_.begin(guardian_, groups_of_its_own());
        life_ = open_link<PipeLink>(0, 1);
        state_ = folder_.path("state");
        folder_.make_root("inside");
    }

    int make(std::uint32_t container) override {
        const Bundle bundle = make_bundle(container, R"("/inside")");
        if (run(bundle, {"--detach"}, life_.read.get()) != 0)
            throw refusal(container, last_words(folder_.text_of(bundle.said)));
        std::uint64_t id = 0;
        std::istringstream(folder_.text_of(bundle.pid)) >> id;
        const int pidfd = static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(id), 0));
        // Beyond RLIMIT_NPROC the kernel refuses the exec of a container's first process, and nobody is left to say so.
        if (id == 0 || pidfd == -1) throw refusal(container, "the container ended at once");
        group_files_ = group_files_of(std::to_string(id));
        return pidfd;
    }

    // Experiment create: one container whose first process counts itself and ends. All that allocates is done here.
    void prepare_single() {
        entries_ = Descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
        if (!entries_.is_open()) throw descriptor_limit_failure(0, 1, errno);
        single_ = make_bundle(0, R"("/inside","once")");
    }

    // Waits until the runtime has removed it. How many have entered since the last time.
    std::uint64_t make_single() {
        if (run(single_, {}, entries_.get()) != 0) [[unlikely]]
            throw refusal(0, last_words(folder_.text_of(single_.said)));
        std::uint64_t entered = 0;
        return read(entries_.get(), &entered, sizeof entered) == sizeof entered ? entered : 0;
    }

    // As `runtime exec` does: a process joins the groups and namespaces, and its child, who alone is in the pid
    // namespace, goes on.
    pid_t enter(int pidfd) override {
        std::optional<LinkEnds> answer = PipeLink::open();
        if (!answer) return -1;
        const pid_t joiner = fork();
        if (joiner == 0) {
            answer->read.reset();
            if (enter_from_joiner(pidfd, answer->write.get())) return 0;
            _exit(0);
        }
        pid_t entered = -errno;
        answer->write.reset();
        if (joiner != -1) {
            if (read(answer->read.get(), &entered, sizeof entered) != sizeof entered) entered = -EPIPE;
            wait_for(joiner);
        }
        if (entered > 0) return entered;
        errno = -entered;
        return -1;
    }

    void forget() override { guardian_.forget(); }

    void end() override {
        life_ = {};  // the containers' first processes end
        guardian_.finish();
    }

private:
    // One container: its name, its bundle and the file of its id; the latter and the runtime's words, which are also
    // their names in the folder.
    struct Bundle {
        std::string name, path, pid_path, pid, said;
    };

    static constexpr Few few = {64, 0};  // the kernel may refuse a task of the runtime of which its words say nothing

    Bundle make_bundle(std::uint32_t container, const char* arguments) const {
        const std::string directory = std::to_string(container);
        folder_.make_directory(directory);
        folder_.make_file(directory + "/config.json", config(container, arguments));
        const std::string pid = directory + "/pid";
        return {folder_.name() + "-" + directory, folder_.path(directory), folder_.path(pid), pid, directory + "/said"};
    }

    // Without a place for the probe's groups the runtime may find one in other hierarchies, and calls them after the
    // container.
    std::vector<std::string> groups_of_its_own() const {
        std::vector<std::string> result;
        if (cgroups_.in_use()) return result;
        for (const CgroupMount& mount : cgroup_mounts()) result.push_back(mount.directory);
        return result;
    }

    static Failure refuse_parameter(const std::string& parameter, const std::string& why) {
        return unsupported("unsupported_here", parameter + " is not possible with " + runtime_name + ": " + why +
                                                   "; use another value or another probe");
    }

    static Failure refusal(std::uint32_t container, const std::string& words) {
        return runtime_refusal(
            container, words, few,
            "run it by hand to see whether it works here, or take another probe (--probe), which needs no runtime");
    }

    std::string below() const { return cgroups_.in_use() ? cgroups_.parent_below_mount() : ""; }

    std::string config(std::uint32_t container, const char* arguments) const {
        const std::string user = std::to_string(geteuid());
        const std::string group = std::to_string(getegid());
        std::string groups;
        if (cgroups_.in_use()) groups = R"("cgroupsPath":")" + below() + "/" + cgroups_.name(container) + "\",";
        if (plan_.text("cpu_quota") != "none") {
            groups += R"("resources":{"cpu":{"period":100000,"quota":)" +
                      std::to_string(plan_.number("cpu_quota") * 1000) + "}},";
        }
        // /proc is the one outside: the driver reads the others' counters there, as the native probe's does.
        return R"({"ociVersion":"1.0.2","process":{"terminal":false,"user":{"uid":0,"gid":0},"args":[)" +
               std::string(arguments) + R"(],"env":[],"cwd":"/","noNewPrivileges":true},"root":{"path":")" +
               folder_.path("root") +
               R"(","readonly":true},"hostname":"switchcost","mounts":[{"destination":"/proc","type":"bind","source":"/proc",)"
               R"("options":["rbind"]},{"destination":"/dev","type":"tmpfs","source":"tmpfs"}],"linux":{)" +
               groups +
               R"("namespaces":[{"type":"pid"},{"type":"mount"},{"type":"network"},{"type":"ipc"},{"type":"uts"},{"type":"user"},)"
               R"({"type":"cgroup"}],"uidMappings":[{"containerID":0,"hostID":)" +
               user + R"(,"size":1}],"gidMappings":[{"containerID":0,"hostID":)" + group + R"(,"size":1}]}})";
    }

    // Exit status of the runtime: with --detach it makes the container, starts its first process, who finds `inherited`
    // as descriptor 3 and what keeps the folder as 4, and leaves; without, it also waits for that process and removes
    // the container.
    int run(const Bundle& bundle, std::initializer_list<const char*> how, int inherited) const {
        std::array<const char*, 16> arguments = {
            runtime_name.c_str(), "--root",     state_.c_str(),         "run", "--preserve-fds", "2", "--bundle",
            bundle.path.c_str(),  "--pid-file", bundle.pid_path.c_str()};
        auto end = std::copy(how.begin(), how.end(), std::find(arguments.begin(), arguments.end(), nullptr));
        *end = bundle.name.c_str();
        const pid_t child = fork();
        if (child == -1) throw task_limit_failure("process", 0, 1, errno);
        if (child == 0) {
            const int nothing = open("/dev/null", O_RDONLY);
            const int words = folder_.open_again(bundle.said);
            // Numbers that the next lines do not overwrite.
            const int life = fcntl(inherited, F_DUPFD, 10);
            const int folder = fcntl(folder_.hold(), F_DUPFD, 10);
            const int lifeline = fcntl(guardian_.lifeline(), F_DUPFD, 10);
            const int groups_lifeline = fcntl(cgroups_.lifeline(), F_DUPFD, 10);
            dup2(nothing, 0);
            dup2(words, 1);
            dup2(words, 2);
            dup2(life, 3);
            dup2(folder, 4);
            // It may still make what the guardians remove; the container does not inherit these.
            dup2(lifeline, 5);
            const unsigned last = dup2(groups_lifeline, 6) == 6 ? 6 : 5;  // there may be none
            syscall(SYS_close_range, last + 1, ~0u, 0u);
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            // runc mounts its own program over a file for a moment: killed then, it would leave the mount to everybody.
            if (unshare(CLONE_NEWNS) == 0) mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
            execv(program_.c_str(), const_cast<char* const*>(arguments.data()));  // it does not write to them
            _exit(127);
        }
        const int status = wait_for(child);
        return status;
    }

    // True: in the container, in the child.
    bool enter_from_joiner(int pidfd, int answer) const {
        constexpr int kinds =
            CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;
        for (const std::string& file : group_files_) {
            const Descriptor group(open(file.c_str(), O_WRONLY | O_CLOEXEC));
            // Without privileges there are no groups to join; the evidence says so.
            const bool gone_on = group.is_open() ? write(group.get(), "0", 1) == 1 || errno == EACCES || errno == EPERM
                                                 : !is_descriptor_limit(errno);
            if (!gone_on) return send_answer(answer, -errno);
        }
        if (setns(pidfd, kinds) != 0) return send_answer(answer, -errno);
        clone_args arguments = {};
        arguments.flags = CLONE_PARENT;  // the launcher's child, not this one's
        const pid_t entered = static_cast<pid_t>(syscall(SYS_clone3, &arguments, sizeof arguments));
        if (entered == 0) return true;
        return send_answer(answer, entered == -1 ? -errno : entered);
    }

    static bool send_answer(int answer, pid_t what) {
        [[maybe_unused]] const ssize_t written = write(answer, &what, sizeof what);
        return false;
    }

    const Plan& plan_;
    const ContainerCgroups& cgroups_;
    std::string program_;
    TemporaryFolder folder_;
    std::string state_;  // in it
    Guardian guardian_;
    LinkEnds life_;
    Descriptor entries_;  // eventfd of experiment create
    Bundle single_;
    std::vector<std::string> group_files_;
};

}  // namespace

std::unique_ptr<ContainerRuntime> make_container_runtime(const Plan& plan, const ContainerCgroups& cgroups) {
    return std::make_unique<OciRuntime>(plan, cgroups);
}

struct OciCreator::Parts {
    explicit Parts(const Plan& asked) : plan(asked), cgroups(plan), runtime(plan, cgroups), counter(1) {
        runtime.prepare_single();
    }
    ~Parts() {
        runtime.end();
        cgroups.guardian().finish();
    }

    const Plan plan;
    ContainerCgroups cgroups;
    OciRuntime runtime;
    SharedArray<std::uint64_t> counter;
};

OciCreator::OciCreator(const Plan& plan) {
    if (plan.text("seccomp") != "off") {
        throw unsupported(
            "unsupported_here",
            "experiment create makes a container as the runtime does, without our filter; leave seccomp out");
    }
    parts_ = std::make_unique<Parts>(plan);
}

OciCreator::~OciCreator() = default;

std::uint64_t OciCreator::run_one(std::uint64_t token, std::uint64_t* entered) {
    *entered += parts_->runtime.make_single();
    return token + 1;
}

std::uint64_t* OciCreator::counter() { return parts_->counter.data(); }

void OciCreator::add_counts(Counts& counts) const { counts.emplace_back("cgroups", parts_->cgroups.in_use()); }

}  // namespace probe
