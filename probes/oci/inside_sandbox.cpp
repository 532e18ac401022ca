// The first process of a sandbox: one context of a ring whose other contexts are in sandboxes of their own. Its ways
// are the three descriptors that a sandbox is started with: 0 and 1 are pipes of the ring, 2 leads to the launcher
// (sandbox_messages.h).
//   inside INDEX CONTEXTS
#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "kit/os/clock.h"
#include "kit/ring/pipe_io.h"
#include "kit/ring/ring.h"
#include "sandbox_messages.h"

namespace probe {

// Only the kernel outside knows these; the launcher asks it.
namespace os {
TaskId current_task() { return {}; }
int current_cpu() { return -1; }
std::optional<PageFaults> faults_of_thread() { return std::nullopt; }
}  // namespace os

namespace {

using Token = std::uint64_t;

constexpr int launcher = 2;

// Whoever is gone takes everybody along: each context's end is the end of the pipe that the next one reads.
[[noreturn]] void leave() { _exit(0); }

void say(const Answer& answer) {
    if (!write_whole(launcher, &answer, sizeof answer)) leave();
}

struct Port {
    [[gnu::always_inline]] void send(Token token) const {
        if (!write_whole(1, &token, sizeof token)) [[unlikely]]
            leave();
    }
    [[gnu::always_inline]] Token receive() const {
        Token token = 0;
        if (!read_whole(0, &token, sizeof token)) [[unlikely]]
            leave();
        return token;
    }
};

[[noreturn]] void live(RingState& ring, Station* stations, std::uint32_t index) {
    const Port port;
    serve<Mode::batch, RunBy::one_thread, Token>(
        ring, stations, index, port.receive(), [&](Token token) __attribute__((always_inline)) {
            if ((token & command_bit<Token>) != 0) [[unlikely]]
                say({.turns = stations[index].turns, .mismatches = stations[index].mismatches});
            port.send(token);
            return port.receive();
        });
    leave();
}

[[noreturn]] void drive(RingState& ring, Station* stations) {
    const Port port;
    Driver<Mode::batch, Token> driver(ring, stations);
    const auto pass = [&](Token token) __attribute__((always_inline)) {
        port.send(token);
        return port.receive();
    };
    for (Order order; read_whole(launcher, &order, sizeof order);) {
        const std::uint64_t begin = clock_now();
        if (order.laps == Order::report) {
            driver.send_command(Command::report, pass);
        } else {
            driver.drive(order.laps, pass);
        }
        const std::uint64_t end = clock_now();
        say({.nanoseconds = end - begin,
             .clock = end,
             .token = driver.token(),
             .turns = stations[0].turns,
             .mismatches = driver.mismatches()});
    }
    leave();
}

}  // namespace
}  // namespace probe

int main(int, char** arguments) {
    using namespace probe;
    const auto index = static_cast<std::uint32_t>(std::atoi(arguments[1]));
    RingState ring;
    ring.contexts = static_cast<std::uint32_t>(std::atoi(arguments[2]));
    std::vector<Station> stations(ring.contexts);
    say({});  // alive
    if (index == 0) drive(ring, stations.data());
    live(ring, stations.data(), index);
}
