// thread/pipe: every context has a pipe; it writes the token into the next one's and blocks in a read of its own.
#include <fcntl.h>

#include <cstring>

#include "kit/pipe_io.h"
#include "kit/solo.h"
#include "kit/tasks.h"

namespace probe {
namespace {

// N pipes, closed in the destructor.
class Pipes {
public:
    explicit Pipes(std::uint32_t count) {
        for (std::uint32_t i = 0; i < count; ++i) {
            int ends[2];
            if (pipe2(ends, O_CLOEXEC) != 0) {
                const int error = errno;
                close_all();
                throw descriptor_limit_failure(i, count, error);
            }
            ends_.push_back(ends[0]);
            ends_.push_back(ends[1]);
        }
    }
    Pipes(const Pipes&) = delete;
    Pipes& operator=(const Pipes&) = delete;
    ~Pipes() { close_all(); }

    int read_end(std::uint32_t index) const { return ends_[2 * index]; }
    int write_end(std::uint32_t index) const { return ends_[2 * index + 1]; }
    std::uint32_t count() const { return static_cast<std::uint32_t>(ends_.size() / 2); }

private:
    void close_all() {
        for (const int fd : ends_) close(fd);
    }
    std::vector<int> ends_;
};

class PipeMedium {
public:
    using Token = std::uint64_t;

    struct Port {
        int own;
        int next;
        // A pipe inside one process cannot lose its other end; were it to, the token would be wrong and be counted as a mismatch.
        [[gnu::always_inline]] void send(Token token) const { write_whole(next, &token, sizeof token); }
        [[gnu::always_inline]] Token receive() const {
            Token token = 0;
            read_whole(own, &token, sizeof token);
            return token;
        }
    };

    explicit PipeMedium(std::uint32_t contexts) : pipes_(contexts) {}
    Port port(std::uint32_t context) const {
        return {pipes_.read_end(context), pipes_.write_end(context + 1 == pipes_.count() ? 0 : context + 1)};
    }

private:
    Pipes pipes_;
};

// Experiment message: a payload to the partner and back. The sequence number stands at the beginning of the payload, cut to its
// size; the partner counts the messages that carry the one it expects.
template <Mode mode>
class PipeMessage final : public Solo<mode> {
public:
    explicit PipeMessage(const Plan& plan)
        : pipes_(2), payload_(plan.number("payload")), echo_(plan.number("payload")), mark_(std::min(payload_.size(), sizeof(std::uint64_t))) {
        threads_.start(&PipeMessage::answer, this, plan.cpu_of(1), 2);
        // The partner's id comes through the pipe, before the first message.
        read_whole(pipes_.read_end(0), &partner_, sizeof partner_);
    }

    ~PipeMessage() override {
        // A message of all ones is no sequence number that is ever reached: the partner ends.
        stopping_ = true;
        write_whole(pipes_.write_end(1), payload_.data(), payload_.size());
        threads_.join();
    }

    void run(std::uint64_t units) override {
        const int to = pipes_.write_end(1);
        const int from = pipes_.read_end(0);
        this->repeat(units, [this, to, from](std::uint64_t token) __attribute__((always_inline)) {
            ++token;
            std::memcpy(payload_.data(), &token, mark_);
            write_whole(to, payload_.data(), payload_.size());
            read_whole(from, payload_.data(), payload_.size());
            this->mismatches_ += std::memcmp(payload_.data(), &token, mark_) != 0;
            return token;
        });
    }

    // The partner waits in its read: what it last wrote is visible, because its answer has been read since.
    std::span<const Station> stations() const override { return {&station_, 1}; }
    void publish() override {
        station_.turns = answered_;
        station_.mismatches = this->mismatches_ + refused_;
        station_.cpu = -1;
    }
    std::vector<TaskId> tasks() const override {
        std::vector<TaskId> both = Workload::tasks();
        both.push_back({both[0].process, partner_});
        return both;
    }

private:
    static void* answer(void* argument) {
        PipeMessage& self = *static_cast<PipeMessage*>(argument);
        const int from = self.pipes_.read_end(1);
        const int to = self.pipes_.write_end(0);
        const int own_id = static_cast<int>(syscall(SYS_gettid));
        write_whole(to, &own_id, sizeof own_id);
        std::uint64_t expected = 1;
        while (read_whole(from, self.echo_.data(), self.echo_.size()) && !self.stopping_) {
            const bool right = std::memcmp(self.echo_.data(), &expected, self.mark_) == 0;
            ++expected;
            self.answered_ += right;
            self.refused_ += !right;
            write_whole(to, self.echo_.data(), self.echo_.size());
        }
        return nullptr;
    }

    Pipes pipes_;
    std::vector<char> payload_;
    std::vector<char> echo_;
    std::size_t mark_;
    bool stopping_ = false;  // written before the last message, read after it
    int partner_ = 0;
    alignas(64) std::uint64_t answered_ = 0;
    std::uint64_t refused_ = 0;
    Station station_{};
    Threads threads_;
};

template <Mode mode>
using PipeRing = ThreadRing<mode, PipeMedium>;

std::unique_ptr<Workload> make(const Plan& plan, Mode mode) {
    return plan.experiment == "message" ? make_for_mode<PipeMessage>(plan, mode) : make_for_mode<PipeRing>(plan, mode);
}

}  // namespace

extern const Entry thread_pipe{"thread/pipe", Shape::tasks, {"switch", "message"}, {{"payload", "8", {}, 1, 1048576}}, &make};

}  // namespace probe
