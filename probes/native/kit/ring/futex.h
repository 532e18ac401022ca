// The medium of thread/futex, process/futex and of what else waits for a word to change: every context waits on a word
// of its own; the token is the word's new value.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "kit/ring/shared.h"

namespace probe {

enum class FutexScope { one_process, shared_memory };

// The two calls of a futex. `sleep` may return at any time; the kernel sleeps only while the word still has the value
// seen last, so that no wake-up is lost.
template <FutexScope scope>
struct SystemFutex {
    static constexpr int op_wait = scope == FutexScope::one_process ? FUTEX_WAIT_PRIVATE : FUTEX_WAIT;
    static constexpr int op_wake = scope == FutexScope::one_process ? FUTEX_WAKE_PRIVATE : FUTEX_WAKE;

    [[gnu::always_inline]] static void wake(std::atomic<std::uint32_t>& word) {
        syscall(SYS_futex, &word, op_wake, 1, nullptr, nullptr, 0);
    }
    [[gnu::always_inline]] static void sleep(std::atomic<std::uint32_t>& word, std::uint32_t seen) {
        syscall(SYS_futex, &word, op_wait, seen, nullptr, nullptr, 0);
    }
};

template <FutexScope scope, class Calls = SystemFutex<scope>>
class FutexMedium {
public:
    using Token = std::uint32_t;  // a futex word has 32 bits: the low half of the sequence number

    // One cache line each, so that a store for one context does not disturb the wait of another.
    struct alignas(64) Word {
        std::atomic<std::uint32_t> value;
    };

    struct Port {
        Word* own;
        Word* next;
        std::uint32_t last_seen;

        [[gnu::always_inline]] void send(Token token) const {
            next->value.store(token, std::memory_order_release);
            Calls::wake(next->value);
        }
        [[gnu::always_inline]] Token receive() {
            Token token = own->value.load(std::memory_order_acquire);
            while (token == last_seen) {
                Calls::sleep(own->value, last_seen);
                token = own->value.load(std::memory_order_acquire);
            }
            last_seen = token;
            return token;
        }
    };

    explicit FutexMedium(std::uint32_t contexts) : words_(contexts) {}

    // A word keeps the last token that came. The driver, which makes a port for every batch, goes on from it; the
    // others make one port, maybe after their first token has come, which is a command and therefore never zero.
    Port port(std::uint32_t context) {
        Word* own = &words_[context];
        const std::uint32_t last_seen = context == 0 ? own->value.load(std::memory_order_relaxed) : 0;
        return {own, &words_[next_in_ring(context, words_.size())], last_seen};
    }

    // A forked process needs nothing made for it: the words lie in a mapping that it inherits.
    void before_fork(std::uint32_t) {}
    void after_fork(std::uint32_t) {}
    Port in_child(std::uint32_t context) { return port(context); }

private:
    SharedArray<Word> words_;
};

}  // namespace probe
