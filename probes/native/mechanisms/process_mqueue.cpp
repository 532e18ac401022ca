// process/mqueue: forked processes hand the token over by POSIX message queues, one per context.
#include <fcntl.h>
#include <mqueue.h>

#include <cstring>
#include <string>

#include "kit/os/descriptor.h"
#include "kit/parameters/speculation.h"
#include "kit/tasks/processes.h"

namespace probe {
namespace {

// With room for one message, and no name once it is open.
Descriptor open_queue(std::uint32_t context) {
    const std::string name = "/switchcost-" + std::to_string(getpid()) + "-" + std::to_string(context);
    mq_attr attributes{};
    attributes.mq_maxmsg = 1;
    attributes.mq_msgsize = sizeof(std::uint64_t);
    Descriptor queue(mq_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600, &attributes));
    const int error = errno;
    if (queue.is_open()) mq_unlink(name.c_str());
    errno = error;
    return queue;
}

Failure queue_failure(std::uint32_t made, std::uint32_t wanted, int error) {
    if (is_descriptor_limit(error)) return descriptor_limit_failure(made, wanted, error);
    return unsupported(error == ENOSYS ? "missing_syscall" : "limit_reached",
                       "the system refused message queue " + std::to_string(made + 1) + " of " +
                           std::to_string(wanted) + " (" + std::strerror(error) +
                           "); see fs.mqueue.queues_max and RLIMIT_MSGQUEUE (ulimit -q)",
                       error);
}

class QueueMedium {
public:
    using Token = std::uint64_t;

    struct Port {
        mqd_t own;
        mqd_t next;

        [[gnu::always_inline]] void send(Token token) const {
            const auto* const bytes = reinterpret_cast<const char*>(&token);
            while (mq_send(next, bytes, sizeof token, 0) == -1 && errno == EINTR) {}
        }
        [[gnu::always_inline]] Token receive() const {
            Token token = 0;
            while (mq_receive(own, reinterpret_cast<char*>(&token), sizeof token, nullptr) == -1 && errno == EINTR) {}
            return token;
        }
    };

    explicit QueueMedium(std::uint32_t contexts) {
        for (std::uint32_t i = 0; i < contexts; ++i) {
            queues_.push_back(open_queue(i));
            if (!queues_.back().is_open()) throw queue_failure(i, contexts, errno);
        }
    }

    Port port(std::uint32_t context) const {
        return {queues_[context].get(), queues_[next_in_ring(context, queues_.size())].get()};
    }
    void before_fork(std::uint32_t) {}
    void after_fork(std::uint32_t) {}
    Port in_child(std::uint32_t context) const { return port(context); }

private:
    std::vector<Descriptor> queues_;
};

template <Mode mode>
using QueueRing = ProcessRing<mode, QueueMedium>;

}  // namespace

extern const Entry process_mqueue{"process/mqueue",
                                  Shape::tasks,
                                  {"switch"},
                                  {sched_parameter(), speculation_parameter(), working_set_parameter()},
                                  &make_ring_for_mode<QueueRing>};

}  // namespace probe
