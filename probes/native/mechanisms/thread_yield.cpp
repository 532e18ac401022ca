// thread/yield: a shared word says whose turn it is; everybody else gives its CPU away by sched_yield until it is its
// own. Nobody sleeps: on one CPU every call is a switch, on several the contexts poll in parallel and the kernel has
// nothing to switch.
#include <sched.h>

#include <atomic>
#include <vector>

#include "kit/tasks/tasks.h"

namespace probe {
namespace {

class YieldMedium {
public:
    using Token = std::uint64_t;

    // Calls of one context; its own cache line, so that counting disturbs nobody.
    struct alignas(64) Calls {
        std::atomic<std::uint64_t> count{0};
    };

    struct alignas(64) Table {
        std::atomic<std::uint32_t> whose_turn{0};
        Token token = 0;
    };

    struct Port {
        Table* table;
        std::atomic<std::uint64_t>* calls;
        std::uint32_t own;
        std::uint32_t next;

        [[gnu::always_inline]] void send(Token token) const {
            table->token = token;
            table->whose_turn.store(next, std::memory_order_release);
        }
        [[gnu::always_inline]] Token receive() const {
            while (table->whose_turn.load(std::memory_order_acquire) != own) {
                sched_yield();
                calls->store(calls->load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
            }
            return table->token;
        }
    };

    explicit YieldMedium(std::uint32_t contexts) : calls_(contexts) {}

    Port port(std::uint32_t context) {
        const std::uint32_t contexts = static_cast<std::uint32_t>(calls_.size());
        return {&table_, &calls_[context].count, context, context + 1 == contexts ? 0 : context + 1};
    }

    void counting(bool on) {
        std::uint64_t sum = 0;
        for (const Calls& calls : calls_) sum += calls.count.load(std::memory_order_relaxed);
        counted_ = on ? sum : sum - counted_;
    }
    void add_counts(Counts& counts) const { counts.emplace_back("yields", static_cast<std::int64_t>(counted_)); }

private:
    Table table_;
    std::vector<Calls> calls_;
    std::uint64_t counted_ = 0;
};

template <Mode mode>
using YieldRing = ThreadRing<mode, YieldMedium>;

}  // namespace

extern const Entry thread_yield{"thread/yield",
                                Shape::tasks,
                                {"switch"},
                                {sched_parameter(), working_set_parameter()},
                                &make_ring_for_mode<YieldRing>};

}  // namespace probe
