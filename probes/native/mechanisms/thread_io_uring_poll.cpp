// thread/io-uring-poll: as thread/epoll-eventfd, but a context waits in io_uring, which one request has asked to say
// each time that its counter can be read. The counter is written to and read by system calls.
#include "kit/ring/eventfd_link.h"
#include "kit/ring/uring_ring.h"

#include <poll.h>

namespace probe {
namespace {

class alignas(64) Context {
public:
    Uring ring;
    EarlyToken<std::uint64_t> early;
    Context(const Plan& plan, const Context*) : ring(setup_of(plan)), counter_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
        if (!counter_.is_open()) throw descriptor_limit_failure(0, 1, errno);
    }

    [[gnu::always_inline]] void send(const Context& next, std::uint64_t token) const {
        write_whole(next.counter_.get(), &token, sizeof token);
    }
    [[gnu::always_inline]] std::uint64_t receive() {
        std::uint64_t token = 0;
        do {
            if (!asked_) ask();
            asked_ = ring.submit_and_wait().more;
        } while (read(counter_.get(), &token, sizeof token) != sizeof token);
        return token;
    }
    void leave() { ring.submit(); }

private:
    [[gnu::noinline]] void ask() {
        io_uring_sqe request{};
        request.opcode = IORING_OP_POLL_ADD;
        request.fd = counter_.get();
        request.len = IORING_POLL_ADD_MULTI;
        request.poll_events = POLLIN;
        ring.prepare(request);
    }

    Descriptor counter_;
    bool asked_ = false;
};

// Polls that go on are older than this one.
std::optional<Unavailable> check() { return uring_lacks(IORING_OP_MSG_RING, "Linux 5.18 or later"); }

}  // namespace

extern const Entry thread_io_uring_poll{"thread/io-uring-poll",
                                        Shape::tasks,
                                        {"switch"},
                                        {taskrun_parameter(), sched_parameter(), working_set_parameter()},
                                        &UringThreads<Context, std::uint64_t>::make,
                                        &check};

}  // namespace probe
