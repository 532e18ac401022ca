// thread/eventfd: every context has an event counter; the token is added to the next one's, and a read of one's own
// takes it out.
#include <sys/eventfd.h>

#include <vector>

#include "kit/experiments/wakeup.h"
#include "kit/ring/links.h"
#include "kit/tasks/tasks.h"

namespace probe {
namespace {

class EventfdMedium {
public:
    using Token = std::uint64_t;
    // The counter is zero when the token comes, so that what is read is the token itself. A token is never zero nor all
    // ones, the two values that an event counter cannot carry.
    using Port = LinkPort;

    explicit EventfdMedium(std::uint32_t contexts) {
        for (std::uint32_t i = 0; i < contexts; ++i) {
            counters_.emplace_back(eventfd(0, EFD_CLOEXEC));
            if (!counters_.back().is_open()) throw descriptor_limit_failure(i, contexts, errno);
        }
    }

    Port port(std::uint32_t context) const {
        return {counters_[context].get(), counters_[next_in_ring(context, counters_.size())].get()};
    }

private:
    std::vector<Descriptor> counters_;
};

template <Mode mode>
using EventfdRing = ThreadRing<mode, EventfdMedium>;

}  // namespace

extern const Entry thread_eventfd{"thread/eventfd",
                                  Shape::tasks,
                                  {"switch", "wakeup"},
                                  {sched_parameter(), idle_parameter(), working_set_parameter(), period_parameter()},
                                  &make_with_wakeup<EventfdMedium, &make_ring_for_mode<EventfdRing>>};

}  // namespace probe
