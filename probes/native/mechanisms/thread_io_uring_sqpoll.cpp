// thread/io-uring-sqpoll: as thread/io-uring-msg-ring, but a thread of the kernel looks for the message, on a CPU of
// its own: the last of the plan. The contexts are all on the first. A context enters the kernel to wait, and submits
// nothing there.
#include <dirent.h>

#include <fstream>
#include <set>
#include <string>

#include "kit/ring/uring_ring.h"

namespace probe {
namespace {

// Ending 100 rings took that thread as long as the batches.
constexpr std::uint32_t most_contexts = 16;

struct alignas(64) Context {
    Uring ring;
    EarlyToken<std::uint64_t> early;
    Context(const Plan& plan, const Context* first)
        : ring({.polled_on = plan.cpus.back(), .shares_thread = first != nullptr ? first->ring.fd() : -1}) {}

    [[gnu::always_inline]] void send(Context& next, std::uint64_t token) { ring.prepare(message_to(next.ring, token)); }
    [[gnu::always_inline]] std::uint64_t receive() { return ring.wait_while_polled().data; }
    void leave() { ring.leave_to_thread(); }
};

std::set<std::string> threads_of_this_process() {
    std::set<std::string> threads;
    DIR* const all = opendir("/proc/self/task");
    while (const dirent* entry = all != nullptr ? readdir(all) : nullptr) threads.insert(entry->d_name);
    if (all != nullptr) closedir(all);
    return threads;  // with . and .., whenever it is asked
}

// The CPU that it ran on last: field 39 of proc(5), stat, the 37th behind the name, which the kernel gave it.
int cpu_of(int thread) {
    std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
    std::string field;
    std::getline(file, field, ')');
    for (int left = 36; left > 0; --left) file >> field;
    int cpu = 0;
    return file >> cpu ? cpu : -1;
}

// Knows the thread that polls for it: the one that came with its first ring.
class Medium : public UringMedium<Context, std::uint64_t> {
public:
    explicit Medium(const Plan& plan) : Medium(plan, threads_of_this_process()) {}

    void add_tasks(std::vector<TaskId>& tasks) const { tasks.push_back({tasks.front().process, thread_}); }
    Hops hops() const {
        Hops none;
        none.why = "a switch goes by way of the kernel's thread on another CPU than that of the contexts";
        none.cpus.insert(cpu_of(thread_));
        return none;
    }
    void counting(bool on) {
        std::uint64_t all = 0;
        for (const auto& context : contexts_) all += context->ring.woke_thread();
        woken_ = on ? all : all - woken_;
    }
    void add_counts(Counts& counts) const { counts.emplace_back("woke_thread", static_cast<std::int64_t>(woken_)); }

private:
    Medium(const Plan& plan, const std::set<std::string>& before) : UringMedium(plan) {
        for (const std::string& thread : threads_of_this_process())
            if (!before.contains(thread)) thread_ = std::stoi(thread);
    }

    int thread_ = 0;
    std::uint64_t woken_ = 0;
};

template <Mode mode>
using Polled = ThreadRing<mode, Medium>;

std::unique_ptr<Workload> make(const Plan& plan, Mode mode) {
    if (plan.cpus.size() < 2)
        throw unsupported("too_few_cpus",
                          "the kernel's thread that looks for requests needs a CPU of its own; give two with cpus=");
    if (plan.contexts > most_contexts)
        throw unsupported("limit_reached",
                          "the kernel's thread polls while so many rings begin and end, which is in no "
                          "batch; ask for 16 contexts at most");
    Plan placed = plan;
    placed.cpus.assign(plan.contexts, plan.cpus.front());
    placed.cpus.push_back(plan.cpus.back());
    return make_ring_for_mode<Polled>(placed, mode);
}

std::optional<Unavailable> check() { return uring_lacks(IORING_OP_MSG_RING, "Linux 5.18 or later"); }

}  // namespace

extern const Entry thread_io_uring_sqpoll{"thread/io-uring-sqpoll",  Shape::tasks, {"switch"},
                                          {working_set_parameter()}, &make,        &check};

}  // namespace probe
