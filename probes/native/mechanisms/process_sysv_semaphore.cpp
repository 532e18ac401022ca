// process/sysv-semaphore: forked processes wait for semaphores of one set of System V; the token is in shared memory.
#include <sys/sem.h>

#include "kit/parameters/speculation.h"
#include "kit/tasks/ipc_object.h"
#include "kit/tasks/processes.h"

namespace probe {
namespace {

struct SemaphoreSet {
    static int make(std::uint32_t contexts) { return semget(IPC_PRIVATE, static_cast<int>(contexts), 0600); }
    static void remove(int id) { semctl(id, 0, IPC_RMID); }
};

class SemaphoreMedium {
public:
    using Token = std::uint64_t;

    struct alignas(64) Word {
        Token token;
    };

    struct Port {
        int set;
        std::uint16_t own;
        std::uint16_t next;
        Word* words;

        [[gnu::always_inline]] void send(Token token) const {
            words[next].token = token;
            add(next, 1);
        }
        [[gnu::always_inline]] Token receive() const {
            add(own, -1);
            return words[own].token;
        }
        [[gnu::always_inline]] void add(std::uint16_t semaphore, std::int16_t number) const {
            sembuf step{semaphore, number, 0};
            while (semop(set, &step, 1) == -1 && errno == EINTR) {}
        }
    };

    explicit SemaphoreMedium(std::uint32_t contexts) : words_(contexts), set_(contexts) {}

    Port port(std::uint32_t context) {
        return {set_.id(), static_cast<std::uint16_t>(context),
                static_cast<std::uint16_t>(next_in_ring(context, words_.size())), words_.data()};
    }
    void before_fork(std::uint32_t) {}
    void after_fork(std::uint32_t) {}
    Port in_child(std::uint32_t context) { return port(context); }

private:
    SharedArray<Word> words_;
    IpcObject<SemaphoreSet> set_;
};

template <Mode mode>
using SemaphoreRing = ProcessRing<mode, SemaphoreMedium>;

}  // namespace

extern const Entry process_sysv_semaphore{"process/sysv-semaphore",
                                          Shape::tasks,
                                          {"switch"},
                                          {sched_parameter(), speculation_parameter(), working_set_parameter()},
                                          &make_ring_for_mode<SemaphoreRing>};

}  // namespace probe
