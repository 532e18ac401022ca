// thread/io-uring-msg-ring: a context puts the token straight among the completions of the next one's ring.
#include "kit/ring/uring_ring.h"

namespace probe {
namespace {

struct alignas(64) Context {
    Uring ring;
    EarlyToken<std::uint64_t> early;
    Context(const Plan& plan, const Context*) : ring(setup_of(plan)) {}

    [[gnu::always_inline]] void send(Context& next, std::uint64_t token) { ring.prepare(message_to(next.ring, token)); }
    [[gnu::always_inline]] std::uint64_t receive() { return ring.submit_and_wait().data; }
    void leave() { ring.submit(); }
};

std::optional<Unavailable> check() { return uring_lacks(IORING_OP_MSG_RING, "Linux 5.18 or later"); }

}  // namespace

extern const Entry thread_io_uring_msg_ring{"thread/io-uring-msg-ring",
                                            Shape::tasks,
                                            {"switch"},
                                            {taskrun_parameter(), sched_parameter(), working_set_parameter()},
                                            &UringThreads<Context, std::uint64_t>::make,
                                            &check};

}  // namespace probe
