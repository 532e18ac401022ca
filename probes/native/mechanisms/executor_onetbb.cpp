// executor/onetbb: tasks are enqueued in an arena of oneTBB. Its library is a shared one, so that the probe that has it
// is one of its own (CMakeLists.txt); others say so.
#include "kit/experiments/submit.h"

#ifdef PROBE_HAS_TBB
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_scheduler_observer.h>
#endif

namespace probe {
namespace {

#ifdef PROBE_HAS_TBB
class OneTbb {
public:
    // Without the limit an arena has no more workers than the process may use CPUs.
    explicit OneTbb(std::uint32_t workers)
        : limit_(tbb::global_control::max_allowed_parallelism, workers + 1),
          workers_(workers),
          arena_(static_cast<int>(workers), 0) {}

    // Every worker has a task at once, so that all come to life.
    template <class Begun>
    void begin(Begun begun) {
        Observer<Begun> observer(arena_, begun);
        std::atomic<std::uint32_t> here{0}, gone{0};
        for (std::uint32_t i = 0; i < workers_; ++i) {
            arena_.enqueue([&, all = workers_] {
                here.fetch_add(1);
                while (here.load() != all) sched_yield();
                gone.fetch_add(1);
            });
        }
        while (gone.load() != workers_) sched_yield();
        observer.observe(false);
    }
    void post(Task& task) {
        arena_.enqueue([&task] { task.run(); });
    }
    void stop() {}

private:
    template <class Begun>
    struct Observer final : tbb::task_scheduler_observer {
        Observer(tbb::task_arena& arena, Begun& call) : task_scheduler_observer(arena), begun(call) { observe(true); }
        void on_scheduler_entry(bool) override {
            static thread_local bool known = false;
            if (!known) begun();
            known = true;
        }
        Begun& begun;
    };

    tbb::global_control limit_;
    const std::uint32_t workers_;
    tbb::task_arena arena_;
};

std::unique_ptr<Workload> make(const Plan& plan, Mode) { return std::make_unique<Submit<OneTbb>>(plan); }
constexpr std::optional<Unavailable> (*check)() = nullptr;
#else
std::unique_ptr<Workload> make(const Plan&, Mode) { return nullptr; }
std::optional<Unavailable> check() {
    return Unavailable{"missing_library", "oneTBB was not found when the probes were built",
                       "oneTBB (Debian: libtbb-dev; Fedora: tbb-devel), then build the probes again"};
}
#endif

}  // namespace

extern const Entry executor_onetbb{"executor/onetbb", Shape::tasks, {"submit"}, submit_parameters(), &make, check};

}  // namespace probe
