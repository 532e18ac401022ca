// thread/futex-waitv: as thread/futex, but a context waits for the first of two words to change, by futex_waitv: its
// own, and one that would tell it to stop. It is what Wine asked the kernel for.
#include "kit/ring/futex.h"
#include "kit/tasks/tasks.h"

namespace probe {
namespace {

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif

// As in linux/futex.h since 5.16.
struct Awaited {
    std::uint64_t value;
    std::uint64_t address;
    std::uint32_t flags;
    std::uint32_t reserved;
};
constexpr std::uint32_t private_word_of_32_bits = 2 | FUTEX_PRIVATE_FLAG;

std::atomic<std::uint32_t> never_written{0};

struct WaitvCalls : SystemFutex<FutexScope::one_process> {
    [[gnu::always_inline]] static void sleep(std::atomic<std::uint32_t>& word, std::uint32_t seen) {
        const auto wait_for = [](const std::atomic<std::uint32_t>& one, std::uint32_t value) {
            return Awaited{value, reinterpret_cast<std::uint64_t>(&one), private_word_of_32_bits, 0};
        };
        const Awaited either[] = {wait_for(word, seen), wait_for(never_written, 0)};
        syscall(SYS_futex_waitv, either, 2, 0, nullptr, 0);
    }
};

template <Mode mode>
using WaitvRing = ThreadRing<mode, FutexMedium<FutexScope::one_process, WaitvCalls>>;

// Without words it answers EINVAL where it is there.
std::optional<Unavailable> check() {
    if (syscall(SYS_futex_waitv, nullptr, 0, 0, nullptr, 0) == -1 && errno == EINVAL) return std::nullopt;
    return Unavailable{"missing_syscall", "this kernel, or a filter of the session (seccomp), lacks futex_waitv",
                       "Linux 5.16 or later"};
}

}  // namespace

extern const Entry thread_futex_waitv{
    "thread/futex-waitv",           Shape::tasks, {"switch"}, {sched_parameter(), working_set_parameter()},
    &make_ring_for_mode<WaitvRing>, &check};

}  // namespace probe
