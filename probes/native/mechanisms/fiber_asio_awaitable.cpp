// fiber/asio-awaitable: coroutines of Boost.Asio on an io_context hand a token round. All are always ready: each posts
// itself to the end of the queue, which is first in, first out. The driver is one that lives for a batch.
#include <algorithm>
#include <utility>

#include "kit/experiments/creation.h"
#include "kit/os/limits.h"
#include "kit/parameters/heap_offset.h"
#include "kit/plan/failure.h"
#include "kit/ring/ring.h"

#if __has_include(<boost/asio/awaitable.hpp>)
// Boost before 1.76 asks for std::result_of.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#define PROBE_HAS_ASIO 1
#endif

namespace probe {
namespace {

#ifdef BOOST_ASIO_HAS_CO_AWAIT

namespace asio = boost::asio;

template <Mode mode>
class AwaitableRing final : public Ring<mode, std::uint64_t> {
    using Token = std::uint64_t;
    using Coroutine = asio::awaitable<void>;

public:
    explicit AwaitableRing(const Plan& plan) : Ring<mode, Token>(plan), context_(1) {
        require_memory(std::uint64_t{coroutine_at_most} * plan.contexts);
        // Posted, not entered: they stand in the queue in the order of the ring.
        for (std::uint32_t i = 1; i < plan.contexts; ++i) asio::co_spawn(context_, live(i), asio::detached);
        publish();
    }

    void run(std::uint64_t units) override {
        this->state().word = this->driver().token() + 1;
        lap(drive(units / this->contexts()));
    }

    void publish() override {
        this->driver().send_command(Command::report, [this](Token token) {
            this->state().word = token;
            lap(stop());
            return this->state().word;
        });
    }

    // Where the coroutines keep what they published; the driver's lies on the stack.
    void add_counts(Counts& counts) const override {
        std::vector<const void*> places;
        for (const Station& station : this->stations()) places.push_back(station.place);
        std::sort(places.begin(), places.end());
        counts.emplace_back("distinct_frames", std::unique(places.begin(), places.end()) - places.begin());
    }

private:
    // A frame, the thread that Asio makes of it, and an operation in the queue: about 700 bytes.
    static constexpr std::size_t coroutine_at_most = 2048;

    // Runs the queue with this coroutine at its end, which stops it.
    void lap(Coroutine last) {
        asio::co_spawn(context_, std::move(last), asio::detached);
        context_.restart();
        this->driver().turn_copy().depart();
        context_.run();
    }

    Coroutine stop() {
        context_.stop();
        co_return;
    }

    // Context 0. The token was handed on before it is entered.
    Coroutine drive(std::uint64_t laps) {
        RingState& state = this->state();
        Station* const stations = this->station_array();
        Turn<mode, Token> turn = this->driver().turn_copy();
        Token token;
        for (;;) {
            token = state.word;
            turn.arrive(token, stations);
            if (--laps == 0) break;
            turn.depart();
            state.word = token + 1;
            co_await asio::post(asio::use_awaitable);
        }
        this->driver().put_back(turn, token);
        context_.stop();
    }

    Coroutine live(std::uint32_t index) {
        RingState& state = this->state();
        Station* const stations = this->station_array();
        Turn<mode, Token> turn(state, index);
        for (;;) {
            const Token token = state.word;
            turn.arrive(token, stations, &index);  // rings of coroutines are never told to stop
            turn.depart();
            state.word = token + 1;
            co_await asio::post(asio::use_awaitable);
        }
    }

    asio::io_context context_;  // with the coroutines
};

class AwaitableCreator {
public:
    explicit AwaitableCreator(const Plan&) : context_(1) {}
    std::uint64_t run_one(std::uint64_t token, std::uint64_t* entered) {
        asio::co_spawn(context_, live(&token, entered), asio::detached);
        context_.restart();
        context_.run();
        return token;
    }
    std::uint64_t* counter() { return &entered_; }

private:
    static asio::awaitable<void> live(std::uint64_t* token, std::uint64_t* entered) {
        ++*entered;
        ++*token;
        co_return;
    }

    asio::io_context context_;
    std::uint64_t entered_ = 0;
};

constexpr auto make = &RingOrCreation<AwaitableRing, AwaitableCreator>::make;
constexpr std::optional<Unavailable> (*check)() = nullptr;

#else

constexpr auto make = nullptr;
std::optional<Unavailable> check() {
#ifdef PROBE_HAS_ASIO
    return Unavailable{"unsupported_here", "Boost.Asio knows no coroutines of this compiler; a build by gcc has them",
                       ""};
#else
    return Unavailable{"missing_library", "Boost.Asio was not found when this probe was built",
                       "Boost (Debian: libboost-dev; Fedora: boost-devel), then build the probe again"};
#endif
}

#endif

}  // namespace

extern const Entry fiber_asio_awaitable{"fiber/asio-awaitable",
                                        Shape::stacks,
                                        {"switch", "create", "footprint"},
                                        {heap_offset_parameter(), working_set_parameter()},
                                        make,
                                        check};

}  // namespace probe
