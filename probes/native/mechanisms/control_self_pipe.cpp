// control/self-pipe: eight bytes into a pipe and out again by the same thread: thread/pipe without the switch.
#include <unistd.h>

#include <cerrno>

#include "kit/os/limits.h"
#include "kit/ring/solo.h"

namespace probe {
namespace {

template <Mode mode>
class SelfPipe final : public Solo<mode> {
public:
    explicit SelfPipe(const Plan&) {
        if (pipe(ends_) != 0) throw descriptor_limit_failure(0, 1, errno);
    }
    ~SelfPipe() override {
        close(ends_[0]);
        close(ends_[1]);
    }
    void run(std::uint64_t units) override {
        const int from = ends_[0];
        const int to = ends_[1];
        this->repeat(units, [this, from, to](std::uint64_t token) __attribute__((always_inline)) {
            std::uint64_t sent = token + 1;
            std::uint64_t received = 0;
            const bool written = write(to, &sent, sizeof sent) == sizeof sent;
            const bool read_back = read(from, &received, sizeof received) == sizeof received;
            this->mismatches_ += !written | !read_back | (received != sent);
            return received;
        });
    }

private:
    int ends_[2] = {-1, -1};
};

}  // namespace

extern const Entry control_self_pipe{"control/self-pipe", Shape::control, {"switch"}, {}, &make_for_mode<SelfPipe>};

}  // namespace probe
