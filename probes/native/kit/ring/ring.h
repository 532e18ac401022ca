// The skeleton shared by every mechanism whose contexts pass a token round a ring: context i hands over to context i +
// 1 mod N, context 0 is the driver. The token is a sequence number that travels through the mechanism's own medium;
// each hop adds one.
//
// What the skeleton costs per switch beside the mechanism: one compare with a branch that is never taken, two additions
// (the compare and one addition only every eighth hop in some rings of two, serve_sparsely); where the contexts are
// tasks, one more compare, of the CPU (kit/os/cpu.h). A context's
// counters stay in its own registers, which the switch under test saves and restores; they reach memory only when the
// driver sends a command. A command is a token whose top bit is flipped, so that it arrives as a mismatch and needs no
// test of its own.
//
// In touching modes a context touches its working set once per turn, right after the token has arrived (and, in
// timing=each, after the interval has been recorded).
//
// All that a switch calls is noexcept: loops that may throw are compiled to more (coroutine_cpp20.cpp).
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <optional>

#include "kit/os/arch.h"
#include "kit/os/cpu.h"
#include "kit/os/memory.h"
#include "kit/parameters/working_set.h"
#include "kit/plan/mechanism.h"
#include "kit/ring/reading.h"
#include "kit/ring/shared.h"

namespace probe {

// What runs the contexts of a ring: the driver's thread all of them, or each is a task of its own.
enum class RunBy { one_thread, tasks };

enum class Command : std::uint32_t { report, stop };

// What the contexts of one ring share. Lives in a MAP_SHARED mapping, so that it also serves forked processes. The
// token's switch orders all accesses: only the context that holds the token touches anything here but its own
// station.
struct RingState {
    std::uint64_t departed = 0;  // counter read by the context that hands over (Mode::each)
    std::uint64_t word = 0;      // carries the token where the mechanism's switch has no argument of its own
    Histogram* histogram = nullptr;
    Command command = Command::report;
    std::uint32_t contexts = 0;
    CpuTrails* trails = nullptr;        // where the contexts are tasks
    const WorkingSets* sets = nullptr;  // in touching modes
};

template <class Token>
inline constexpr Token command_bit = Token{1} << (std::numeric_limits<Token>::digits - 1);

// What tells address spaces apart, whatever the kernel calls them: each context that is a task writes its number here
// when it begins, and reads it when all have begun. In a space of its own it finds itself; those who share a space find
// the same one.
inline std::atomic<std::uint32_t> space_mark{0};

// What a context says of itself besides its turns.
inline void publish(Station& station, bool is_task) {
    station.mxcsr = arch::store_mxcsr();
    station.cpu = -1;
    if (!is_task) return;
    const os::PageFaults faults = os::faults_of_thread().value_or(os::PageFaults{});
    const TaskId task = os::current_task();
    station.minor_faults = faults.minor;
    station.major_faults = faults.major;
    station.cpu = os::current_cpu();
    station.space = space_mark.load(std::memory_order_relaxed);
    station.process = task.process;
    station.thread = task.thread;
}

// The counter of one context and the two ends of its turn. A local variable of the context's loop.
//
// `expected` is the context's own count of its turns, in steps of N: it advances once per turn whatever arrives, and is
// at the same time the sequence number that the token must carry. One addition and one compare are all that a switch
// pays.
template <Mode mode, class Token, RunBy by = RunBy::one_thread>
struct Turn {
    static constexpr Mode kind = without_touches(mode);
    struct Nothing {};

    RingState& ring;
    std::uint64_t expected;
    std::uint64_t stride;
    std::uint32_t index;
    std::int32_t cpu = -1;  // where the last turn was, if the context is a task
    [[no_unique_address]] std::conditional_t<touches(mode), WorkingSet, Nothing> own_set{};

    Turn(RingState& state, std::uint32_t context) noexcept
        : ring(state), expected(first_expected(state, context)), stride(state.contexts), index(context) {
        if constexpr (touches(mode)) own_set = state.sets->of(context);
        if constexpr (by == RunBy::tasks) space_mark.store(context, std::memory_order_relaxed);
    }

    // The driver begins with the token in its hands and expects it after one lap.
    static std::uint64_t first_expected(const RingState& state, std::uint32_t context) noexcept {
        return context == 0 ? state.contexts : context;
    }

    // To be called with the token as soon as it has arrived. False: the ring ends. `place`: something in the context's
    // frame, where that is not on the stack it runs on.
    [[gnu::always_inline]] bool arrive(Token token, Station* stations, const void* place = nullptr) noexcept {
        std::uint64_t arrived = 0;
        if constexpr (reads_counter(kind)) arrived = reading_after<kind>();
        const std::uint64_t due = expected;
        expected = due + stride;
        if constexpr (by == RunBy::tasks) {
            const int now = cpu_of_this_task();
            if (now != cpu) [[unlikely]] {
                cpu = now;
                ring.trails->note(index, due, now);
            }
        }
        if (token == static_cast<Token>(due)) [[likely]] {
            if constexpr (reads_counter(kind)) record(arrived);
            if constexpr (touches(mode)) own_set.touch();
            return true;
        }
        return arrive_irregularly(ring, stations[index], index, token, due, place);
    }

    // To be called last before the token is handed over.
    [[gnu::always_inline]] void depart() noexcept {
        if constexpr (reads_counter(kind)) ring.departed = reading_before<kind>();
    }

    // The recording lies between arrival and departure: outside every interval. The pair of counter reads is the one an
    // interval is made of, with nothing in between.
    void record(std::uint64_t arrived) {
        const std::uint64_t interval = arrived - ring.departed;
        const std::uint64_t first = reading_before<mode>();
        const std::uint64_t second = reading_after<mode>();
        ring.histogram->record(interval, second - first);
    }

    // A command, or a token with a wrong number. Static, with everything by value and its counts in the station: a Turn
    // whose address is never taken stays in registers, and the loop has nothing to carry for the case that does not
    // happen.
    [[gnu::cold, gnu::noinline]] static bool arrive_irregularly(const RingState& ring, Station& station,
                                                                std::uint32_t index, Token token, std::uint64_t due,
                                                                const void* place) noexcept {
        const std::uint64_t arrivals = (due - first_expected(ring, index)) / ring.contexts;
        station.turns = arrivals - station.irregular;
        ++station.irregular;
        if ((token ^ command_bit<Token>) != static_cast<Token>(due)) {
            ++station.mismatches;
            return true;
        }
        if constexpr (touches(mode)) station.touches = ring.sets->of(index).touched();
        station.place = place != nullptr ? place : __builtin_frame_address(0);
        publish(station, by == RunBy::tasks || index == 0);
        return ring.command != Command::stop;
    }
};

// The life of context i > 0: `token` has just arrived, `pass` hands a token to the next context and returns with the
// one that came back. Returns with the token to be sent on when the ring ends.
template <Mode mode, RunBy by = RunBy::one_thread, class Token, class Pass>
[[gnu::always_inline]] inline Token serve(RingState& ring, Station* stations, std::uint32_t index, Token token,
                                          Pass pass) {
    Turn<mode, Token, by> turn(ring, index);
    while (turn.arrive(token, stations)) [[likely]] {
        turn.depart();
        token = pass(static_cast<Token>(token + 1));
    }
    return static_cast<Token>(token + 1);
}

// How a switch goes through a port with `send` and `receive`.
template <class Port>
auto through(Port& port) {
    return [&port](auto token) __attribute__((always_inline)) {
        port.send(token);
        return port.receive();
    };
}

// Rings of two whose contexts run inside one thread check every so many turns: a compare and an addition in every turn
// are more than a tenth of the cheapest switches. The token must then be as much further as all turns since then make
// it, so that a switch which did not happen is noticed as before; batches are multiples of so many laps, or the
// commands between them would not be looked at.
inline constexpr std::uint32_t turns_a_check = 8;

// Whether a plan's ring is checked so.
template <Mode mode>
bool checks_sparsely(const Plan& plan) {
    const std::uint64_t units = plan.batch_units;  // 0: single laps
    return mode == Mode::batch && plan.contexts == 2 && units != 0 && units % (2 * turns_a_check) == 0;
}

// `serve` for such rings.
template <Mode mode, class Token, class Pass>
[[gnu::always_inline]] inline Token serve_sparsely(RingState& ring, Station* stations, std::uint32_t index, Token token,
                                                   Pass pass) {
    Turn<mode, Token> turn(ring, index);
    for (;;) {
        while (token == static_cast<Token>(turn.expected)) [[likely]] {
#pragma GCC unroll 8
            for (std::uint32_t i = 0; i < turns_a_check; ++i) token = pass(static_cast<Token>(token + 1));
            turn.expected += turns_a_check * turn.stride;
        }
        if (!turn.arrive(token, stations)) return static_cast<Token>(token + 1);
        token = pass(static_cast<Token>(token + 1));
    }
}

// Context 0. Holds the token between batches.
template <Mode mode, class TokenType, RunBy by = RunBy::one_thread>
class Driver {
public:
    using Token = TokenType;

    Driver(RingState& ring, Station* stations) : turn_(ring, 0), stations_(stations) {}

    // `laps` times round the ring. The members are copied so that the loop holds them in registers.
    template <class Pass>
    [[gnu::always_inline]] void drive(std::uint64_t laps, Pass pass) {
        Turn<mode, Token, by> turn = turn_;
        Token token = token_;
        for (; laps != 0; --laps) {
            turn.depart();
            token = pass(static_cast<Token>(token + 1));
            turn.arrive(token, stations_);
        }
        put_back(turn, token);
    }

    // The same for rings that are checked sparsely; `laps` is a multiple of turns_a_check.
    template <class Pass>
    [[gnu::always_inline]] void drive_sparsely(std::uint64_t laps, Pass pass) {
        Turn<mode, Token, by> turn = turn_;
        Token token = token_;
        for (; laps != 0; laps -= turns_a_check) {
#pragma GCC unroll 8
            for (std::uint32_t i = 0; i < turns_a_check; ++i) token = pass(static_cast<Token>(token + 1));
            turn.expected += (turns_a_check - 1) * turn.stride;
            turn.arrive(token, stations_);
        }
        put_back(turn, token);
    }

    // One lap that carries a command. Every context publishes its station, the driver last.
    template <class Pass>
    void send_command(Command command, Pass pass) {
        turn_.ring.command = command;
        const Token returned = pass(static_cast<Token>((token_ ^ command_bit<Token>)+1));
        turn_.arrive(returned, stations_);
        token_ = returned ^ command_bit<Token>;
    }

    // The token that ends the ring, for mechanisms whose contexts must run to their end.
    Token stop_token() {
        turn_.ring.command = Command::stop;
        return static_cast<Token>((token_ ^ command_bit<Token>)+1);
    }

    // For loops that cannot be a lambda (setjmp): the caller works on a copy and puts it back.
    Turn<mode, Token, by> turn_copy() const noexcept { return turn_; }
    void put_back(const Turn<mode, Token, by>& turn, Token token) noexcept {
        token_ = token;
        turn_.expected = turn.expected;
        turn_.cpu = turn.cpu;
    }

    Token token() const noexcept { return token_; }
    // Sequence number of the token in hand, whatever the medium carries of it.
    std::uint64_t sequence() const noexcept { return turn_.expected - turn_.stride; }
    std::uint64_t mismatches() const { return stations_[0].mismatches; }

private:
    Turn<mode, Token, by> turn_;
    Station* stations_;
    Token token_ = 0;
};

// Storage of one ring, and the answers to the kit that are the same for all rings.
template <Mode mode, class Token, RunBy by = RunBy::one_thread>
class Ring : public Workload {
    static constexpr Mode kind = without_touches(mode);

public:
    explicit Ring(const Plan& plan)
        : contexts_(plan.contexts), state_(1), stations_(plan.contexts), histogram_(reads_counter(kind) ? 1 : 0) {
        state_[0].contexts = contexts_;
        if constexpr (by == RunBy::tasks) state_[0].trails = &trails_.emplace(contexts_);
        if constexpr (reads_counter(kind)) {
            histogram_[0].clear();
            state_[0].histogram = histogram_.data();
        }
        if constexpr (touches(mode)) {
            sets_.emplace(plan.working_set(), contexts_);
            state_[0].sets = &*sets_;
        }
        driver_.emplace(state_[0], stations_.data());
        if (plan.asked->live == Live::batch) {
            for (std::uint32_t i = 0; i < contexts_; ++i)
                stations_[i] = {};  // touched now: they are the probe's, not the contexts'
            before_contexts_ = own_memory();
        }
    }

    std::span<const Station> stations() const override { return {stations_.data(), contexts_}; }
    std::uint64_t token() const override { return driver_->token(); }
    std::uint64_t token_mask() const override { return std::numeric_limits<Token>::max(); }
    std::uint64_t mismatches() const override { return driver_->mismatches(); }
    Histogram* histogram() override { return state_[0].histogram; }
    void begin_hops() override {
        if (trails_) trails_->begin(driver_->sequence());
    }
    std::optional<Hops> hops() const override {
        return trails_ ? std::optional(trails_->examine(driver_->sequence())) : std::nullopt;
    }
    std::optional<MemoryGain> memory_gain() const override {
        const Memory now = own_memory();
        return MemoryGain{{now.resident - before_contexts_.resident, now.mapped - before_contexts_.mapped,
                           now.kernel - before_contexts_.kernel}};
    }

protected:
    Driver<mode, Token, by>& driver() noexcept { return *driver_; }
    RingState& state() noexcept { return state_[0]; }
    Station* station_array() noexcept { return stations_.data(); }
    std::uint32_t contexts() const noexcept { return contexts_; }

private:
    std::uint32_t contexts_;
    SharedArray<RingState> state_;
    SharedArray<Station> stations_;
    SharedArray<Histogram> histogram_;
    std::optional<CpuTrails> trails_;  // itself in the memory of each process, what it keeps shared by all
    std::optional<Driver<mode, Token, by>> driver_;
    Memory before_contexts_;
    std::optional<WorkingSets> sets_;
};

}  // namespace probe
