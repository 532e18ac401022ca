// control/cache-line: two threads on two CPUs hand a number over in one cache line, spinning. No task is switched: it
// is what the way between the CPUs costs by itself.
#include <atomic>
#include <set>

#include "kit/os/arch.h"
#include "kit/os/posix.h"
#include "kit/tasks/tasks.h"

namespace probe {
namespace {

class SpinMedium {
public:
    using Token = std::uint64_t;

    struct alignas(64) Line {
        std::atomic<std::uint64_t> token{0};
    };

    // Both sides write the same word: whoever sees another number than it wrote itself has its turn.
    struct Port {
        Line* line;
        Token sent;

        [[gnu::always_inline]] void send(Token token) {
            line->token.store(token, std::memory_order_release);
            sent = token;
        }
        [[gnu::always_inline]] Token receive() const {
            for (;;) {
                const Token token = line->token.load(std::memory_order_acquire);
                if (token != sent) return token;
                arch::spin_pause();
            }
        }
    };

    explicit SpinMedium(std::uint32_t) {}
    Port port(std::uint32_t) { return {&line_, 0}; }

private:
    Line line_;
};

template <Mode mode>
using SpinPair = ThreadRing<mode, SpinMedium>;

void require_two_cpus(const Plan& plan) {
    // With a list of CPUs the driver is pinned already.
    const std::set<int> planned(plan.cpus.begin(), plan.cpus.end());
    if ((planned.empty() ? os::usable_cpus() : planned.size()) >= 2) return;
    throw unsupported("too_few_cpus",
                      "two threads that spin need a CPU each, or each switch lasts a time slice; give two with cpus=");
}

std::unique_ptr<Workload> make(const Plan& plan, Mode mode) {
    require_two_cpus(plan);
    Plan two = plan;
    two.contexts = 2;
    return make_for_mode<SpinPair>(two, mode);
}

}  // namespace

extern const Entry control_cache_line{"control/cache-line", Shape::pair, {"switch"}, {}, &make};

}  // namespace probe
