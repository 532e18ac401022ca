// thread/pthread: what making and holding a thread costs. `clone` is the bare system call with a stack that is already
// there; the C library's pthread_create adds the stack (from its cache after the first), the thread's local storage and
// its own bookkeeping.
#include <pthread.h>
#include <sys/resource.h>

#include <optional>

#include "kit/experiments/creation.h"
#include "kit/tasks/bare_thread.h"
#include "kit/tasks/held.h"
#include "kit/tasks/tasks.h"

namespace probe {
namespace {

class ThreadCreator {
public:
    explicit ThreadCreator(const Plan& plan) {
        if (plan.text("by") == "clone") bare_.emplace();
    }

    [[gnu::always_inline]] std::uint64_t run_one(std::uint64_t token, std::uint64_t* entered) {
        life_ = {token, entered, 0};
        if (bare_) {
            life_.thread = bare_->run_one(&live_bare, &life_);
        } else {
            create_and_join();
        }
        births_.note(life_.thread);
        return life_.token;
    }
    std::uint64_t* counter() { return &entered_; }
    const Births& births() const { return births_; }

private:
    struct Life {
        std::uint64_t token;
        std::uint64_t* entered;
        int thread;
    };

    static void count(Life& life) {
        ++*life.entered;
        ++life.token;
    }

    // The C library does not tell its creator the thread's number. One system call, a hundredth of what is measured.
    static void* live(void* argument) {
        Life& life = *static_cast<Life*>(argument);
        count(life);
        life.thread = os::current_thread();
        return nullptr;
    }

    void create_and_join() {
        pthread_t thread;
        const int error = pthread_create(&thread, nullptr, &live, &life_);
        if (error != 0) [[unlikely]]
            throw usual_thread_failure(0, 1, error);
        pthread_join(thread, nullptr);
    }

    static int live_bare(void* argument) {
        count(*static_cast<Life*>(argument));
        return 0;
    }

    std::optional<BareThreads> bare_;
    Life life_{};
    Births births_;
    std::uint64_t entered_ = 0;
};

// Threads with the C library's default attributes, asleep.
class HeldThreads final : public Held {
public:
    explicit HeldThreads(const Plan& plan) : Held(plan), lives_(plan.contexts) {
        if (plan.text("by") != "pthread_create") {
            throw unsupported("unsupported_here",
                              "footprint is measured of threads made by pthread_create only; leave by out");
        }
        require_memory(std::uint64_t{24 * 1024} * plan.contexts);
        threads_.reserve(plan.contexts);
        before_ = own_memory();
        before_.kernel = settled_kernel_memory_of_machine();
        for (std::uint32_t i = 1; i < plan.contexts; ++i) {
            lives_[i] = {&sleeping_, i};
            pthread_t thread;
            const int error = pthread_create(&thread, nullptr, &live, &lives_[i]);
            if (error != 0) {
                const Failure failure = refusal(i - 1, plan.contexts - 1, error);
                end_all();
                throw failure;
            }
            threads_.push_back(thread);
        }
        sleeping_.wait_for(plan.contexts - 1);
    }
    ~HeldThreads() override { end_all(); }

    std::optional<MemoryGain> memory_gain() const override {
        const Memory now = own_memory();
        return MemoryGain{
            {now.resident - before_.resident, now.mapped - before_.mapped, kernel_memory_of_machine() - before_.kernel},
            true};
    }

private:
    struct Life {
        SleepingTasks* sleeping;
        std::uint32_t index;
    };

    static void* live(void* argument) {
        const Life& life = *static_cast<Life*>(argument);
        life.sleeping->sleep(life.index);
        return nullptr;
    }

    // The C library says EAGAIN also when there was no room for the stack.
    static Failure refusal(std::uint32_t made, std::uint32_t wanted, int error) {
        rlimit space{};
        rlimit stack{};
        getrlimit(RLIMIT_AS, &space);
        getrlimit(RLIMIT_STACK, &stack);
        const bool no_room = space.rlim_cur != RLIM_INFINITY &&
                             static_cast<rlim_t>(own_memory().mapped) + stack.rlim_cur > space.rlim_cur;
        return no_room ? memory_limit_failure(stack.rlim_cur, ENOMEM) : usual_thread_failure(made, wanted, error);
    }

    void end_all() {
        sleeping_.wake_all();
        for (const pthread_t thread : threads_) pthread_join(thread, nullptr);
        threads_.clear();
    }

    std::vector<Life> lives_;
    std::vector<pthread_t> threads_;
    Memory before_;
};

template <Mode mode>
using ThreadCreation = Creation<mode, ThreadCreator>;

std::unique_ptr<Workload> make(const Plan& plan, Mode mode) {
    if (plan.experiment == "footprint") return std::make_unique<HeldThreads>(plan);
    return make_for_mode<ThreadCreation>(plan, mode);
}

}  // namespace

extern const Entry thread_pthread{
    "thread/pthread", Shape::tasks, {"create", "footprint"}, {{"by", {"pthread_create", "clone"}}}, &make};

}  // namespace probe
