// sandbox/userfaultfd: a task touches a page that is not there, and another one, its handler, is asked for it
// (userfaultfd). The token lies in shared memory on its way there, and comes back in the page: two switches.
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "kit/os/descriptor.h"
#include "kit/tasks/processes.h"

namespace probe {
namespace {

// Faults of the program itself, and none that the kernel meets on its behalf: asking for those takes no rights (Linux
// 5.11, UFFD_USER_MODE_ONLY).
constexpr int user_mode_only = 1;

class FaultMedium {
    struct Common {
        std::uint64_t token;
    };

    // The one that is not there, and the handler's own, which becomes its content.
    struct Pages {
        explicit Pages(std::size_t bytes) : size(bytes), absent(static_cast<char*>(map_zeroed(2 * bytes, false))) {}
        Pages(const Pages&) = delete;
        Pages& operator=(const Pages&) = delete;
        ~Pages() { unmap(absent, 2 * size); }
        char* content() const { return absent + size; }
        const std::size_t size;
        char* const absent;
    };

public:
    using Token = std::uint64_t;

    // The driver faults, its partner handles.
    struct Port {
        FaultMedium* medium;
        bool handles;
        Token unsent = 0;

        Port(FaultMedium* own, bool is_handler) : medium(own), handles(is_handler) {}
        Port(const Port&) = delete;
        Port& operator=(const Port&) = delete;
        // What was sent last, and is not followed by a wait for the answer. Without a handler nobody would answer.
        ~Port() {
            if (unsent != 0 && medium->handled_) medium->fault(unsent);
        }

        [[gnu::always_inline]] void send(Token token) {
            if (handles)
                medium->answer(token);
            else
                unsent = token;
        }
        [[gnu::always_inline]] Token receive() {
            return handles ? medium->await_fault() : medium->fault(std::exchange(unsent, 0));
        }
    };

    explicit FaultMedium(std::uint32_t contexts)
        : bytes_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))), common_(1), pages_(bytes_) {
        if (contexts != 2)
            throw unsupported("unsupported_here", "a fault has one task and one handler; leave contexts at 2");
        int descriptor = static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | user_mode_only));
        if (descriptor == -1 && errno == EINVAL) descriptor = static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC));
        faults_ = Descriptor(descriptor);
        uffdio_api version = {UFFD_API, 0, 0};
        uffdio_register mine = {{place(), bytes_}, UFFDIO_REGISTER_MODE_MISSING, 0};
        if (faults_.is_open() && ioctl(descriptor, UFFDIO_API, &version) == 0 &&
            ioctl(descriptor, UFFDIO_REGISTER, &mine) == 0)
            return;
        const int error = errno;
        throw unsupported(error == EPERM ? "no_permission" : "unsupported_here",
                          std::string("the kernel gives page faults to no task here (") + std::strerror(error) +
                              "): it takes CONFIG_USERFAULTFD, Linux 5.11, and a session whose filter allows it",
                          error);
    }

    void before_fork(std::uint32_t) {}
    // Once the handler alone has it, its death ends the faults.
    void after_fork(std::uint32_t) {
        faults_.reset();
        handled_ = true;
    }
    Port in_child(std::uint32_t) { return Port(this, true); }
    // For threads.
    Port port(std::uint32_t context) {
        if (context != 0) handled_ = true;
        return Port(this, context != 0);
    }

    // In the driver, which faults: the kernel's count of that.
    void counting(bool on) {
        const auto now = os::faults_of_thread();
        if (!now) return;
        const std::uint64_t all = now->minor + now->major;
        counted_ = on ? all : all - counted_;
    }
    void add_counts(Counts& counts) const { counts.emplace_back("faults", counted_); }

private:
    std::uint64_t place() const { return reinterpret_cast<std::uint64_t>(pages_.absent); }

    // The page is thrown away, and read.
    [[gnu::always_inline]] Token fault(Token token) {
        common_[0].token = token;
        madvise(pages_.absent, bytes_, MADV_DONTNEED);
        return *reinterpret_cast<volatile Token*>(pages_.absent);
    }
    [[gnu::always_inline]] Token await_fault() {
        uffd_msg news{};
        while (read(faults_.get(), &news, sizeof news) != sizeof news && errno != EBADF) {}
        return common_[0].token;
    }
    [[gnu::always_inline]] void answer(Token token) {
        std::memcpy(pages_.content(), &token, sizeof token);
        uffdio_copy copy = {place(), reinterpret_cast<std::uint64_t>(pages_.content()), bytes_, 0, 0};
        while (ioctl(faults_.get(), UFFDIO_COPY, &copy) != 0 && errno == EAGAIN) copy.copy = 0;
    }

    std::size_t bytes_;
    SharedArray<Common> common_;
    Pages pages_;
    Descriptor faults_;
    std::atomic<bool> handled_ = false;
    std::uint64_t counted_ = 0;
};

template <Mode mode>
using ByProcess = ProcessRing<mode, FaultMedium>;
template <Mode mode>
using ByThread = ThreadRing<mode, FaultMedium>;

std::unique_ptr<Workload> make(const Plan& plan, Mode mode) {
    return plan.text("handler") == "thread" ? make_ring_for_mode<ByThread>(plan, mode)
                                            : make_ring_for_mode<ByProcess>(plan, mode);
}

}  // namespace

extern const Entry sandbox_userfaultfd{"sandbox/userfaultfd",
                                       Shape::tasks,
                                       {"switch"},
                                       {{"handler", {"process", "thread"}}, sched_parameter(), working_set_parameter()},
                                       &make};

}  // namespace probe
