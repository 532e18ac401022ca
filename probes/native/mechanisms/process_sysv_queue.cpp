// process/sysv-queue: forked processes hand the token over by one message queue of System V; the type of a message says
// which context it is for.
#include <sys/msg.h>

#include "kit/parameters/speculation.h"
#include "kit/tasks/ipc_object.h"
#include "kit/tasks/processes.h"

namespace probe {
namespace {

struct Queue {
    static int make(std::uint32_t) { return msgget(IPC_PRIVATE, 0600); }
    static void remove(int id) { msgctl(id, IPC_RMID, nullptr); }
};

class QueueMedium {
public:
    using Token = std::uint64_t;

    struct Message {
        long type;
        Token token;
    };

    struct Port {
        int queue;
        long own;
        long next;

        [[gnu::always_inline]] void send(Token token) const {
            const Message message{next, token};
            while (msgsnd(queue, &message, sizeof message.token, 0) == -1 && errno == EINTR) {}
        }
        [[gnu::always_inline]] Token receive() const {
            Message message{};
            while (msgrcv(queue, &message, sizeof message.token, own, 0) == -1 && errno == EINTR) {}
            return message.token;
        }
    };

    explicit QueueMedium(std::uint32_t contexts) : contexts_(contexts), queue_(contexts) {}

    Port port(std::uint32_t context) const {
        return {queue_.id(), context + 1L, next_in_ring(context, contexts_) + 1L};  // a type is above 0
    }
    void before_fork(std::uint32_t) {}
    void after_fork(std::uint32_t) {}
    Port in_child(std::uint32_t context) const { return port(context); }

private:
    std::uint32_t contexts_;
    IpcObject<Queue> queue_;
};

template <Mode mode>
using QueueRing = ProcessRing<mode, QueueMedium>;

}  // namespace

extern const Entry process_sysv_queue{"process/sysv-queue",
                                      Shape::tasks,
                                      {"switch"},
                                      {sched_parameter(), speculation_parameter(), working_set_parameter()},
                                      &make_ring_for_mode<QueueRing>};

}  // namespace probe
