// io_uring by its three system calls: a ring of one context, which alone submits to it and waits for it. The kernel
// sees what is prepared when the context next enters it, so that one call sends to the next context and waits.
#pragma once

#include <linux/io_uring.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <optional>

#include "kit/os/descriptor.h"
#include "kit/plan/mechanism.h"

namespace probe {

// How the kernel gets to know of requests, and when it carries out their completions.
struct UringSetup {
    bool defers = false;     // completions: when the context asks for them (taskrun=defer)
    int polled_on = -1;      // a thread of the kernel on this CPU looks for requests; -1: each call submits them
    int shares_thread = -1;  // the ring that has this thread already; -1: it gets one of its own
};

// Operations that are newer than the headers of some systems.
inline constexpr std::uint8_t uring_futex_wait = 51;
inline constexpr std::uint8_t uring_futex_wake = 52;

class Uring {
public:
    struct News {
        std::uint64_t data;
        bool more;  // the request that it is of goes on
    };

    // Throws Failure.
    explicit Uring(const UringSetup& setup);
    Uring(const Uring&) = delete;
    Uring& operator=(const Uring&) = delete;
    ~Uring();

    // In the context's own thread, which is the only one from here on; repeated, it does nothing.
    void begin();

    int fd() const { return ring_.get(); }

    // Whole: the kernel's thread may take it as soon as the tail has moved.
    [[gnu::always_inline]] void prepare(const io_uring_sqe& request) {
        const std::uint32_t tail = sent_->load(std::memory_order_relaxed);
        entries_[tail & sent_mask_] = request;
        sent_->store(tail + 1, std::memory_order_release);
        ++prepared_;
    }

    // Submits what is prepared, if anything is.
    void submit() {
        while (prepared_ != 0) enter(0);
    }

    // Submits what is prepared, and waits for the next completion.
    [[gnu::always_inline]] News submit_and_wait() {
        const std::uint32_t head = taken_->load(std::memory_order_relaxed);
        do enter(1);
        while (arrived_->load(std::memory_order_acquire) == head);
        return take(head);
    }

    // Of a ring that is polled: waits for the next completion, and submits nothing.
    [[gnu::always_inline]] News wait_while_polled() {
        const std::uint32_t head = taken_->load(std::memory_order_relaxed);
        while (arrived_->load(std::memory_order_acquire) == head) call_while_polled(1, IORING_ENTER_GETEVENTS);
        return take(head);
    }
    // The same for what is prepared and not followed by a wait.
    void leave_to_thread() {
        if (thread_sleeps()) call_while_polled(0, 0);
    }
    // Calls that had to wake the kernel's thread, which sleeps if there was nothing for `sq_thread_idle`.
    std::uint64_t woke_thread() const { return woke_thread_; }

private:
    [[gnu::always_inline]] News take(std::uint32_t head) {
        const io_uring_cqe& completion = completions_[head & arrived_mask_];
        const News news{completion.user_data, (completion.flags & IORING_CQE_F_MORE) != 0};
        taken_->store(head + 1, std::memory_order_release);
        return news;
    }
    // What was prepared is there before the look: the thread looks once more after it has said that it sleeps.
    [[gnu::always_inline]] bool thread_sleeps() const {
        std::atomic_thread_fence(std::memory_order_seq_cst);
        return (state_->load(std::memory_order_relaxed) & IORING_SQ_NEED_WAKEUP) != 0;
    }
    void enter(unsigned wanted);
    void call_while_polled(unsigned wanted, unsigned flags);

    Descriptor ring_;
    bool begun_ = false;
    unsigned char* queues_ = nullptr;
    std::size_t queues_bytes_ = 0;
    io_uring_sqe* entries_ = nullptr;
    std::size_t entries_bytes_ = 0;
    const io_uring_cqe* completions_ = nullptr;
    std::atomic<std::uint32_t>* sent_ = nullptr;
    std::atomic<std::uint32_t>* taken_ = nullptr;
    const std::atomic<std::uint32_t>* arrived_ = nullptr;
    const std::atomic<std::uint32_t>* state_ = nullptr;
    std::uint64_t woke_thread_ = 0;
    std::uint32_t sent_mask_ = 0;
    std::uint32_t arrived_mask_ = 0;
    unsigned prepared_ = 0;
};

// Tells the context of this ring the token, and this one nothing.
inline io_uring_sqe message_to(const Uring& ring, std::uint64_t token) {
    io_uring_sqe request{};
    request.opcode = IORING_OP_MSG_RING;
    request.flags = IOSQE_CQE_SKIP_SUCCESS;
    request.fd = ring.fd();
    request.off = token;
    return request;
}

// nullopt: this kernel has io_uring, lets us use it and knows the operation.
std::optional<Unavailable> uring_lacks(std::uint8_t operation, const char* since);

// When the kernel carries out the completion of a request: at once, by interrupting the thread that waits, or when that
// thread next asks for completions.
inline Parameter taskrun_parameter() { return {"taskrun", {"default", "defer"}}; }
inline UringSetup setup_of(const Plan& plan) { return {.defers = plan.text("taskrun") == "defer"}; }

}  // namespace probe
