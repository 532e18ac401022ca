// thread/eventfd: every context has an event counter; the token is added to the next one's, and a read of one's own
// takes it out.
#include <sys/eventfd.h>

#include <vector>

#include "kit/ring/links.h"
#include "kit/tasks/tasks.h"

namespace probe {
namespace {

class EventfdMedium {
public:
    using Token = std::uint64_t;

    // The counter is zero when the token comes, so that what is read is the token itself. A token is never zero nor all
    // ones, the two values that an event counter cannot carry.
    struct Port {
        int own;
        int next;
        [[gnu::always_inline]] void send(Token token) const { write_whole(next, &token, sizeof token); }
        [[gnu::always_inline]] Token receive() const {
            Token token = 0;
            read_whole(own, &token, sizeof token);
            return token;
        }
    };

    explicit EventfdMedium(std::uint32_t contexts) {
        for (std::uint32_t i = 0; i < contexts; ++i) {
            counters_.push_back(eventfd(0, EFD_CLOEXEC));
            if (counters_.back() != -1) continue;
            const int error = errno;
            close_all();
            throw descriptor_limit_failure(i, contexts, error);
        }
    }
    EventfdMedium(const EventfdMedium&) = delete;
    EventfdMedium& operator=(const EventfdMedium&) = delete;
    ~EventfdMedium() { close_all(); }

    Port port(std::uint32_t context) const {
        return {counters_[context], counters_[context + 1 == counters_.size() ? 0 : context + 1]};
    }

private:
    void close_all() {
        for (int& fd : counters_) close_once(fd);
    }
    std::vector<int> counters_;
};

template <Mode mode>
using EventfdRing = ThreadRing<mode, EventfdMedium>;

}  // namespace

extern const Entry thread_eventfd{"thread/eventfd",
                                  Shape::tasks,
                                  {"switch"},
                                  {sched_parameter(), idle_parameter(), working_set_parameter()},
                                  &make_ring_for_mode<EventfdRing>};

}  // namespace probe
