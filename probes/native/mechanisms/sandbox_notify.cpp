// sandbox/notify: a process makes a system call that a filter gives to another process, its supervisor, to answer
// (SECCOMP_RET_USER_NOTIF). The call carries the token there, the answer carries it back: two switches.
#include <linux/seccomp.h>
#include <sys/ioctl.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "kit/os/descriptor.h"
#include "kit/os/seccomp.h"
#include "kit/tasks/processes.h"

namespace probe {
namespace {

// Which nobody else makes.
constexpr int supervised_call = SYS_vhangup;

// Linux 6.6: the one who is woken will be waited for, and may run on the same CPU at once.
constexpr unsigned long set_flags = SECCOMP_IOW(4, std::uint64_t);
constexpr unsigned long synchronous_wake_up = 1;

template <bool synchronous>
class NotifyMedium {
public:
    using Token = std::uint64_t;

    // The driver calls, its partner supervises.
    struct Port {
        int listener;  // the supervisor's
        Token unsent = 0;
        seccomp_notif_resp answer{};

        explicit Port(int descriptor) : listener(descriptor) {}
        Port(const Port&) = delete;
        Port& operator=(const Port&) = delete;
        // What was sent last, and is not followed by a wait for the answer.
        ~Port() {
            if (unsent != 0) syscall(supervised_call, unsent);
        }

        [[gnu::always_inline]] void send(Token token) {
            if (listener == -1) {
                unsent = token;
                return;
            }
            answer.val = static_cast<std::int64_t>(token);
            ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
        }
        [[gnu::always_inline]] Token receive() {
            if (listener == -1) return static_cast<Token>(syscall(supervised_call, std::exchange(unsent, 0)));
            seccomp_notif call;
            do call = {};
            while (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0 && errno != EBADF);
            answer.id = call.id;
            return call.data.args[0];
        }
    };

    explicit NotifyMedium(std::uint32_t contexts) {
        if (contexts != 2)
            throw unsupported("unsupported_here", "a call has one caller and one supervisor; leave contexts at 2");
        SeccompFilter filter;
        filter.answered = supervised_call;
        filter.answer = SECCOMP_RET_USER_NOTIF;
        listener_ = Descriptor(install_seccomp_listener(filter));
        if (!listener_.is_open() || (synchronous && ioctl(listener_.get(), set_flags, synchronous_wake_up) != 0)) {
            const int error = errno;
            throw unsupported(
                "unsupported_here",
                std::string("the kernel gives calls to no supervisor here (") + std::strerror(error) +
                    "): it takes Linux 5.5, or 6.6 for wake=sync, no other supervisor around, and a session "
                    "whose filter allows it",
                error);
        }
    }

    void before_fork(std::uint32_t) {}
    // Once the supervisor alone has it, its death ends the calls.
    void after_fork(std::uint32_t) { listener_.reset(); }
    Port in_child(std::uint32_t) const { return Port(listener_.get()); }
    Port port(std::uint32_t) const { return Port(-1); }

private:
    Descriptor listener_;
};

template <Mode mode>
using NotifyRing = ProcessRing<mode, NotifyMedium<false>>;
template <Mode mode>
using SynchronousRing = ProcessRing<mode, NotifyMedium<true>>;

std::unique_ptr<Workload> make(const Plan& plan, Mode mode) {
    return plan.text("wake") == "sync" ? make_ring_for_mode<SynchronousRing>(plan, mode)
                                       : make_ring_for_mode<NotifyRing>(plan, mode);
}

}  // namespace

extern const Entry sandbox_notify{"sandbox/notify",
                                  Shape::tasks,
                                  {"switch"},
                                  {{"wake", {"default", "sync"}}, sched_parameter(), working_set_parameter()},
                                  &make};

}  // namespace probe
