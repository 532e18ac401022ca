// thread/signalfd: a context waits in a read of a file that gives the signals queued for its thread.
#include <sys/signalfd.h>

#include "kit/os/descriptor.h"
#include "kit/ring/signals.h"

namespace probe {
namespace {

class FileReceiver {
public:
    explicit FileReceiver(const sigset_t& signals) : file_(signalfd(-1, &signals, SFD_CLOEXEC)) {
        if (!file_.is_open()) throw descriptor_limit_failure(0, 1, errno);
    }
    [[gnu::always_inline]] std::uint64_t receive() const {
        signalfd_siginfo news;
        while (read(file_.get(), &news, sizeof news) != sizeof news) {}
        return news.ssi_ptr;
    }

private:
    Descriptor file_;
};

template <Mode mode>
using SignalfdRing = ThreadRing<mode, SignalMedium<FileReceiver>>;

}  // namespace

extern const Entry thread_signalfd{"thread/signalfd",
                                   Shape::tasks,
                                   {"switch"},
                                   {sched_parameter(), working_set_parameter()},
                                   &make_ring_for_mode<SignalfdRing>};

}  // namespace probe
