#include "kit/ring/uring.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "kit/os/limits.h"
#include "kit/os/procfs.h"

namespace probe {
namespace {

constexpr unsigned entries = 8;

// Longer than anything between two batches: a thread that sleeps would have to be woken by a call.
constexpr unsigned thread_idle_ms = 1000;

int set_up(io_uring_params& parameters) { return static_cast<int>(syscall(SYS_io_uring_setup, entries, &parameters)); }

template <class T>
T* at(unsigned char* queues, std::uint32_t offset) {
    return reinterpret_cast<T*>(queues + offset);
}

Unavailable refusal(int error) {
    if (error == ENOSYS) return {"missing_syscall", "this kernel has no io_uring", "Linux 5.19 or later"};
    const std::string disabled = procfs::first_line("/proc/sys/kernel/io_uring_disabled");
    const char* const cure = disabled == "0" ? "; let the session's filter (seccomp) pass io_uring_setup"
                                             : "; set it to 0, or be in the group that kernel.io_uring_group names";
    return {"no_permission",
            std::string("io_uring is refused here (") + std::strerror(error) +
                ", kernel.io_uring_disabled = " + (disabled.empty() ? "unknown" : disabled) + ")" + cure,
            ""};
}

}  // namespace

Uring::Uring(const UringSetup& setup) {
    io_uring_params parameters{};
    parameters.flags = IORING_SETUP_R_DISABLED;
    if (setup.defers) parameters.flags |= IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN;
    if (setup.polled_on >= 0) {
        parameters.flags |= IORING_SETUP_SQPOLL | IORING_SETUP_SQ_AFF;
        parameters.sq_thread_cpu = static_cast<std::uint32_t>(setup.polled_on);
        parameters.sq_thread_idle = thread_idle_ms;
    }
    if (setup.shares_thread >= 0) {
        parameters.flags |= IORING_SETUP_ATTACH_WQ;
        parameters.wq_fd = static_cast<std::uint32_t>(setup.shares_thread);
    }
    ring_ = Descriptor(set_up(parameters));
    if (!ring_.is_open()) {
        const int error = errno;
        if (error == EINVAL && setup.defers)
            throw unsupported("unsupported_here", "taskrun=defer takes Linux 6.1 or later; leave taskrun out", error);
        if (error != EPERM && error != ENOSYS) throw descriptor_limit_failure(0, 1, error);
        const Unavailable why = refusal(error);
        throw unsupported(why.code, why.reason, error);
    }
    queues_bytes_ = std::max(parameters.sq_off.array + parameters.sq_entries * sizeof(std::uint32_t),
                             parameters.cq_off.cqes + parameters.cq_entries * sizeof(io_uring_cqe));
    entries_bytes_ = parameters.sq_entries * sizeof(io_uring_sqe);
    constexpr int access = PROT_READ | PROT_WRITE;
    void* queues = mmap(nullptr, queues_bytes_, access, MAP_SHARED | MAP_POPULATE, fd(), IORING_OFF_SQ_RING);
    if (queues == MAP_FAILED) throw memory_limit_failure(queues_bytes_, errno);
    queues_ = static_cast<unsigned char*>(queues);
    void* mapped = mmap(nullptr, entries_bytes_, access, MAP_SHARED | MAP_POPULATE, fd(), IORING_OFF_SQES);
    if (mapped == MAP_FAILED) {
        const int error = errno;
        munmap(queues_, queues_bytes_);
        throw memory_limit_failure(entries_bytes_, error);
    }
    entries_ = static_cast<io_uring_sqe*>(mapped);
    sent_ = at<std::atomic<std::uint32_t>>(queues_, parameters.sq_off.tail);
    sent_mask_ = *at<std::uint32_t>(queues_, parameters.sq_off.ring_mask);
    taken_ = at<std::atomic<std::uint32_t>>(queues_, parameters.cq_off.head);
    arrived_ = at<std::atomic<std::uint32_t>>(queues_, parameters.cq_off.tail);
    arrived_mask_ = *at<std::uint32_t>(queues_, parameters.cq_off.ring_mask);
    completions_ = at<io_uring_cqe>(queues_, parameters.cq_off.cqes);
    state_ = at<std::atomic<std::uint32_t>>(queues_, parameters.sq_off.flags);
    std::uint32_t* const order = at<std::uint32_t>(queues_, parameters.sq_off.array);
    for (std::uint32_t i = 0; i < parameters.sq_entries; ++i) order[i] = i;
}

Uring::~Uring() {
    munmap(entries_, entries_bytes_);
    munmap(queues_, queues_bytes_);
}

void Uring::begin() {
    if (std::exchange(begun_, true)) return;
    syscall(SYS_io_uring_register, fd(), IORING_REGISTER_ENABLE_RINGS, nullptr, 0);
}

// What a signal interrupts comes again.
void Uring::enter(unsigned wanted) {
    const long submitted = syscall(SYS_io_uring_enter, fd(), prepared_, wanted, IORING_ENTER_GETEVENTS, nullptr, 0);
    if (submitted > 0) prepared_ -= static_cast<unsigned>(submitted);
}

void Uring::call_while_polled(unsigned wanted, unsigned flags) {
    if (thread_sleeps()) {
        flags |= IORING_ENTER_SQ_WAKEUP;
        ++woke_thread_;
    }
    syscall(SYS_io_uring_enter, fd(), 0, wanted, flags, nullptr, 0);
}

std::optional<Unavailable> uring_lacks(std::uint8_t operation, const char* since) {
    io_uring_params parameters{};
    const Descriptor ring(set_up(parameters));
    if (!ring.is_open()) return is_descriptor_limit(errno) ? std::nullopt : std::optional(refusal(errno));
    constexpr std::size_t operations = 256;
    alignas(io_uring_probe) std::array<unsigned char, sizeof(io_uring_probe) + operations * sizeof(io_uring_probe_op)>
        answer{};
    const auto* const known = reinterpret_cast<const io_uring_probe*>(answer.data());
    syscall(SYS_io_uring_register, ring.get(), IORING_REGISTER_PROBE, answer.data(), operations);
    if ((known->ops[operation].flags & IO_URING_OP_SUPPORTED) != 0) return std::nullopt;
    return Unavailable{"unsupported_here", "this kernel's io_uring lacks the operation", since};
}

}  // namespace probe
