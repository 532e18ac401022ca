// coroutine/cpp20: C++20 coroutines that resume each other by symmetric transfer: co_await of an awaiter whose
// await_suspend returns the next one's handle. The driver is also a coroutine; it alone returns to its caller, at the
// end of a batch.
#include <algorithm>
#include <new>

#include "kit/experiments/creation.h"
#include "kit/os/limits.h"
#include "kit/parameters/heap_offset.h"
#include "kit/parameters/layout.h"
#include "kit/ring/coroutine.h"
#include "kit/ring/ring.h"

namespace probe {
namespace {

// The compiler must not know whom it resumes: clang 14 otherwise resolves the handle, puts both coroutines into one
// function and removes the switch (0.3 ns).
[[gnu::always_inline]] inline std::coroutine_handle<> hidden(std::coroutine_handle<> handle) noexcept {
    void* address = handle.address();
    asm volatile("" : "+r"(address));
    return std::coroutine_handle<>::from_address(address);
}

// Kept in the frame of the coroutine that transfers. Through a table there would be a second load in the chain from
// frame to frame: 4.4 ns per switch instead of 2.5 ns.
struct Transfer {
    std::coroutine_handle<> next;
    bool await_ready() const noexcept { return false; }
    [[gnu::always_inline]] std::coroutine_handle<> await_suspend(std::coroutine_handle<>) const noexcept {
        return hidden(next);
    }
    void await_resume() const noexcept {}
};

// A coroutine cannot hide behind a `pass` as the other rings' contexts do: the two loops spell it out.
template <Mode mode>
class CoroutineRing final : public Ring<mode, std::uint64_t> {
    using Token = std::uint64_t;

public:
    explicit CoroutineRing(const Plan& plan) : Ring<mode, Token>(plan) {
        require_memory(std::uint64_t{frame_at_most} * plan.contexts);
        try {
            handles_.resize(plan.contexts);
            handles_[0] = drive().handle;
            // In the order of memory: frames that are made one after the other lie side by side.
            for (const std::uint32_t i : Layout(plan, plan.contexts - 1).by_place())
                handles_[i + 1] = live(i + 1).handle;
        } catch (const std::bad_alloc&) {
            destroy_all();
            throw memory_limit_failure(std::size_t{frame_at_most} * plan.contexts, ENOMEM);
        }
        publish();  // first entry of every context, outside every clock
    }

    ~CoroutineRing() override { destroy_all(); }

    void run(std::uint64_t units) override {
        units_ = units;
        hidden(handles_[0]).resume();
    }

    void publish() override {
        units_ = 0;
        this->driver().send_command(Command::report, [this](Token token) {
            this->state().word = token;
            hidden(to_next(0).next).resume();
            return this->state().word;
        });
    }

    // Frames that their own coroutines published an address of.
    void add_counts(Counts& counts) const override {
        std::vector<const void*> frames;
        for (std::uint32_t i = 0; i < this->contexts(); ++i) {
            const char* const frame = static_cast<const char*>(handles_[i].address());
            const void* const place = i == 0 ? drivers_place_ : this->stations()[i].place;
            if (place >= frame && place < frame + frame_at_most) frames.push_back(frame);
        }
        std::sort(frames.begin(), frames.end());
        counts.emplace_back("distinct_frames", std::unique(frames.begin(), frames.end()) - frames.begin());
    }

    std::uint64_t far_steps() const override {
        std::uint64_t far = 0;
        for (std::uint32_t i = 0; i < this->contexts(); ++i) {
            const auto distance =
                static_cast<char*>(to_next(i).next.address()) - static_cast<char*>(handles_[i].address());
            far += distance < 0 || distance > frame_at_most;
        }
        return far;
    }

private:
    // A frame is about 130 bytes; memory is asked for generously.
    static constexpr std::ptrdiff_t frame_at_most = 512;

    // Suspended wherever they are; their frames hold nothing that needs an orderly end.
    void destroy_all() {
        for (const std::coroutine_handle<> handle : handles_) {
            if (handle) handle.destroy();
        }
    }

    // To be asked by a context that runs: then all have been made.
    Transfer to_next(std::uint32_t context) const noexcept {
        return {handles_[next_in_ring(context, this->contexts())]};
    }

    // Context 0. With `units_` of 0 it hands nothing on: a command's lap, begun by the caller at the next context, ends
    // here.
    //
    // Two points of suspension and no call that might throw: from five places to go on at (the beginning and the end
    // count) gcc finds the place by a table, one more indirect jump per lap, 0.2 ns per switch in a ring of two.
    Coroutine drive() {
        RingState& state = this->state();
        Station* const stations = this->station_array();
        const Transfer next = to_next(0);
        const std::uint32_t index = 0;
        drivers_place_ = &index;  // its station is written outside of its frame
        for (;;) {
            Turn<mode, Token> turn = this->driver().turn_copy();
            Token token = this->driver().token();
            const Token end = turn.expected + units_;
            while (turn.expected != end) {
                turn.depart();
                state.word = token + 1;
                co_await next;
                token = state.word;
                turn.arrive(token, stations, &index);
            }
            this->driver().put_back(turn, token);
            co_await std::suspend_always{};  // back to the caller of resume()
        }
    }

    Coroutine live(std::uint32_t index) {
        RingState& state = this->state();
        Station* const stations = this->station_array();
        const Transfer next = to_next(index);
        Turn<mode, Token> turn(state, index);
        for (;;) {
            const Token token = state.word;
            turn.arrive(token, stations, &index);  // rings of coroutines are never told to stop
            turn.depart();
            state.word = token + 1;
            co_await next;
        }
    }

    std::uint64_t units_ = 0;
    const void* drivers_place_ = nullptr;
    std::vector<std::coroutine_handle<>> handles_;
};

class CoroutineCreator {
public:
    explicit CoroutineCreator(const Plan&) {}
    [[gnu::always_inline]] std::uint64_t run_one(std::uint64_t token, std::uint64_t* entered) {
        token_ = token;
        const std::coroutine_handle<> created = hidden(live(&token_, entered).handle);
        created.resume();
        hidden(created).destroy();
        return token_;
    }
    std::uint64_t* counter() { return &entered_; }

private:
    static Coroutine live(std::uint64_t* token, std::uint64_t* entered) {
        ++*entered;
        ++*token;
        co_return;
    }

    std::uint64_t token_ = 0;
    std::uint64_t entered_ = 0;
};

}  // namespace

extern const Entry coroutine_cpp20{"coroutine/cpp20",
                                   Shape::stacks,
                                   {"switch", "create", "footprint", "count"},
                                   {heap_offset_parameter(), layout_parameter(), working_set_parameter()},
                                   &RingOrCreation<CoroutineRing, CoroutineCreator>::make};

}  // namespace probe
