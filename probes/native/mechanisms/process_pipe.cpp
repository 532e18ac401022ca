// process/pipe: thread/pipe between forked processes: the switch also changes the address space.
#include <fcntl.h>

#include "kit/pipe_io.h"
#include "kit/processes.h"

namespace probe {
namespace {

class ProcessPipeMedium {
public:
    using Token = std::uint64_t;

    struct Port {
        int own;
        int next;
        bool is_driver;

        [[gnu::always_inline]] void send(Token token) const {
            if (!write_whole(next, &token, sizeof token)) [[unlikely]] partner_gone();
        }
        [[gnu::always_inline]] Token receive() const {
            Token token = 0;
            if (!read_whole(own, &token, sizeof token)) [[unlikely]] partner_gone();
            return token;
        }
        // A child has nothing to say; the driver's handler of SIGCHLD reports, and does not return.
        [[gnu::cold, gnu::noinline]] void partner_gone() const {
            if (!is_driver) _exit(3);
            for (;;) pause();
        }
    };

    explicit ProcessPipeMedium(std::uint32_t contexts) : contexts_(contexts) {
        make_pipe(0, own_, last_write_);
        make_pipe(1, child_read_, first_write_);
    }
    ProcessPipeMedium(const ProcessPipeMedium&) = delete;
    ProcessPipeMedium& operator=(const ProcessPipeMedium&) = delete;
    ~ProcessPipeMedium() {
        for (int* fd : {&own_, &last_write_, &child_read_, &first_write_, &child_write_, &next_read_}) close_once(*fd);
    }

    void before_fork(std::uint32_t context) {
        if (context + 1 == contexts_) {
            std::swap(child_write_, last_write_);  // the last context closes the ring
        } else {
            make_pipe(context + 1, next_read_, child_write_);
        }
    }

    Port in_child(std::uint32_t) {
        for (int* fd : {&own_, &last_write_, &first_write_, &next_read_}) close_once(*fd);
        return {child_read_, child_write_, false};
    }

    // With its copies closed, the end of any process is seen as the end of a pipe by the next one.
    void after_fork(std::uint32_t) {
        close_once(child_read_);
        close_once(child_write_);
        std::swap(child_read_, next_read_);
    }

    Port driver_port() const { return {own_, first_write_, true}; }

private:
    void make_pipe(std::uint32_t context, int& read_end, int& write_end) const {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0) throw descriptor_limit_failure(context, contexts_, errno);
        read_end = ends[0];
        write_end = ends[1];
    }
    static void close_once(int& fd) {
        if (fd != -1) close(fd);
        fd = -1;
    }

    std::uint32_t contexts_;
    int own_ = -1;          // driver reads
    int last_write_ = -1;   // for the last context
    int first_write_ = -1;  // driver writes, to context 1
    int child_read_ = -1;   // of the context forked next
    int child_write_ = -1;
    int next_read_ = -1;    // of the one after it
};

template <Mode mode>
using PipeRing = ProcessRing<mode, ProcessPipeMedium>;

}  // namespace

extern const Entry process_pipe{"process/pipe", Shape::tasks, {"switch"}, {}, &make_for_mode<PipeRing>};

}  // namespace probe
