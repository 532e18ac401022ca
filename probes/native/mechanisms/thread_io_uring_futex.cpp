// thread/io-uring-futex: as thread/futex, but one call of io_uring wakes the next context and waits for the own word.
#include <linux/futex.h>

#include "kit/ring/uring_ring.h"

namespace probe {
namespace {

class alignas(64) Context {
public:
    Uring ring;
    EarlyToken<std::uint32_t> early;
    Context(const Plan& plan, const Context*) : ring(setup_of(plan)) {}

    [[gnu::always_inline]] void send(Context& next, std::uint32_t token) {
        next.word_.store(token, std::memory_order_release);
        ask(uring_futex_wake, next.word_, 1, IOSQE_CQE_SKIP_SUCCESS);
    }
    // The kernel waits only while the word still has its old value, and says at once where it has not.
    [[gnu::always_inline]] std::uint32_t receive() {
        std::uint32_t token = word_.load(std::memory_order_acquire);
        while (token == last_seen_) {
            ask(uring_futex_wait, word_, last_seen_, 0);
            ring.submit_and_wait();
            token = word_.load(std::memory_order_acquire);
        }
        last_seen_ = token;
        return token;
    }
    void leave() { ring.submit(); }

private:
    [[gnu::always_inline]] void ask(std::uint8_t operation, std::atomic<std::uint32_t>& word, std::uint64_t value,
                                    std::uint8_t flags) {
        io_uring_sqe request{};
        request.opcode = operation;
        request.flags = flags;
        request.fd = 2 | FUTEX_PRIVATE_FLAG;  // a private word of 32 bits
        request.addr = reinterpret_cast<std::uint64_t>(&word);
        request.off = value;
        request.addr3 = FUTEX_BITSET_MATCH_ANY;
        ring.prepare(request);
    }

    std::atomic<std::uint32_t> word_{0};
    std::uint32_t last_seen_ = 0;
};

std::optional<Unavailable> check() { return uring_lacks(uring_futex_wait, "Linux 6.7 or later"); }

}  // namespace

extern const Entry thread_io_uring_futex{"thread/io-uring-futex",
                                         Shape::tasks,
                                         {"switch"},
                                         {taskrun_parameter(), sched_parameter(), working_set_parameter()},
                                         &UringThreads<Context, std::uint32_t>::make,
                                         &check};

}  // namespace probe
