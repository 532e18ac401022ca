// Measures coroutine/@name@. Put your library's coroutine into it; the kit does the rest.
#include "kit/own_coroutine.h"
#include "task.h"

namespace {

struct Library {
    using Coroutine = Task;

    // Suspended. Resumed with a token it hands on turn(token), and suspends again.
    template <class Turn>
    static Task make(Turn turn) {
        Task task = live(turn);
        task.send(0);
        return task;
    }

    // Continues it with this token and returns the one that it hands on.
    static std::uint64_t resume(Task& task, std::uint64_t token) { return task.send(token); }

    // Makes one that adds one to `entered` and gives token + 1, lets it end, destroys it.
    static std::uint64_t make_and_end(std::uint64_t token, std::uint64_t& entered) {
        Task task = once(token, entered);
        asm volatile("" : "+m"(task));  // or the compiler leaves the coroutine out
        return task.send(0);
    }

private:
    template <class Turn>
    static Task live(Turn turn) {
        std::uint64_t next = 0;
        for (;;) {
            const std::uint64_t token = co_yield next;
            next = turn(token);
        }
    }

    static Task once(std::uint64_t token, std::uint64_t& entered) {
        ++entered;
        co_yield token + 1;
    }
};

}  // namespace

int main(int argc, char** argv) {
    return probe::own_coroutine_probe<Library>({"@name@", "1", __VERSION__, FLAGS}, "coroutine/@name@", argc, argv);
}
