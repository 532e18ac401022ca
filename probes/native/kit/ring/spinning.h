// The medium of futex rings whose contexts look at their word before they block (parameter `spin`), as adaptive locks
// and the queues of schedulers do. Who blocks says so beforehand, and a sender wakes only who has: a token that is
// found in time costs no system call on either side.
#pragma once

#include <atomic>
#include <cstdint>

#include "kit/os/arch.h"
#include "kit/plan/mechanism.h"
#include "kit/ring/futex.h"
#include "kit/ring/shared.h"

namespace probe {

inline Parameter spin_parameter() { return {"spin", {}}; }

template <FutexScope scope>
class SpinningMedium {
    using Calls = SystemFutex<scope>;

    struct alignas(64) Slot {
        std::atomic<std::uint32_t> value;   // the last token that came
        std::atomic<std::uint32_t> asleep;  // 1: its context blocks, or is about to
    };
    // Written by its context alone, and read when no token is on its way.
    struct alignas(64) Tally {
        std::uint64_t looks;   // that did not find the token, a pause after each
        std::uint64_t blocks;  // times that all of them did not
    };

public:
    using Token = std::uint32_t;  // as in FutexMedium

    struct Port {
        Slot* own;
        Slot* next;
        Tally* tally;
        std::uint32_t last_seen;
        std::uint32_t spin;

        // Either this sees that the partner blocks, or the partner's last look sees the token: both sides store before
        // they load, in the one order of seq_cst.
        [[gnu::always_inline]] void send(Token token) const {
            next->value.store(token, std::memory_order_seq_cst);
            if (next->asleep.load(std::memory_order_seq_cst) != 0) Calls::wake(next->value);
        }
        [[gnu::always_inline]] Token receive() {
            std::uint32_t looks = 0;
            Token token = own->value.load(std::memory_order_acquire);
            while (token == last_seen && looks != spin) {
                ++looks;
                arch::spin_pause();
                token = own->value.load(std::memory_order_acquire);
            }
            if (token == last_seen) token = block();
            tally->looks += looks;
            last_seen = token;
            return token;
        }

    private:
        [[gnu::noinline]] Token block() const {
            ++tally->blocks;
            own->asleep.store(1, std::memory_order_seq_cst);
            Token token = own->value.load(std::memory_order_seq_cst);
            while (token == last_seen) {
                Calls::sleep(own->value, last_seen);
                token = own->value.load(std::memory_order_seq_cst);
            }
            own->asleep.store(0, std::memory_order_relaxed);
            return token;
        }
    };

    explicit SpinningMedium(const Plan& plan)
        : spin_(static_cast<std::uint32_t>(plan.number("spin"))), slots_(plan.contexts), tallies_(plan.contexts) {}

    Port port(std::uint32_t context) {
        Slot* own = &slots_[context];
        const std::uint32_t last_seen = context == 0 ? own->value.load(std::memory_order_relaxed) : 0;
        return {own, &slots_[next_in_ring(context, slots_.size())], &tallies_[context], last_seen, spin_};
    }
    void before_fork(std::uint32_t) {}
    void after_fork(std::uint32_t) {}
    Port in_child(std::uint32_t context) { return port(context); }

    void counting(bool on) {
        const Tally now = sum();
        if (on) {
            counted_ = now;
        } else {
            counted_ = {now.looks - counted_.looks, now.blocks - counted_.blocks};
        }
    }
    void add_counts(Counts& counts) const {
        counts.emplace_back("looks", static_cast<std::int64_t>(counted_.looks));
        counts.emplace_back("blocks", static_cast<std::int64_t>(counted_.blocks));
    }

private:
    Tally sum() const {
        Tally all{};
        for (std::uint32_t i = 0; i < tallies_.size(); ++i) {
            all.looks += tallies_.data()[i].looks;
            all.blocks += tallies_.data()[i].blocks;
        }
        return all;
    }

    std::uint32_t spin_;
    SharedArray<Slot> slots_;
    SharedArray<Tally> tallies_;
    Tally counted_{};
};

// Of a mechanism with the parameter: rings of `Plain` unless it is above 0.
template <template <Mode> class Plain, template <Mode> class Spinning>
std::unique_ptr<Workload> make_spinning(const Plan& plan, Mode mode) {
    return plan.number("spin") == 0 ? make_ring_for_mode<Plain>(plan, mode) : make_ring_for_mode<Spinning>(plan, mode);
}

}  // namespace probe
