// Two coroutines of Boost.Asio on one io_context, each of which posts itself to the end of the queue.
//
// The probe takes up to a fifth longer, and executes 880 instructions a switch where this takes 791 (callgrind, gcc 12,
// Boost 1.74). Its own loops have three of them. Functions of Asio's stay calls in it that gcc compiles into their
// caller here: awaitable_thread::pump, ~work_cleanup, and what awaitable<void> does to resume. Why is not known:
// further kinds of coroutines in this file change nothing, nor does -fno-inline-functions-called-once.
#include <utility>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "plain.h"

namespace asio = boost::asio;

static uint64_t token;

// Each compares the token with the one it is due, as the probe's contexts do.
static asio::awaitable<void> live() {
    uint64_t due = 0;
    for (;;) {
        if (token != due) abort();
        due += 2;
        ++token;
        co_await asio::post(asio::use_awaitable);
    }
}

static asio::awaitable<void> drive(asio::io_context& context, plain_arguments a) {
    uint64_t due = 1;
    for (int b = 0; b < a.batches; b++) {
        const uint64_t begin = plain_now();
        for (uint64_t i = 0; i < a.switches; i += 2) {
            if (token != due) abort();
            due += 2;
            ++token;
            co_await asio::post(asio::use_awaitable);
        }
        plain_print(plain_now() - begin, a.switches);
    }
    context.stop();
}

int main(int argc, char** argv) {
    const plain_arguments a = plain_start(argc, argv);
    asio::io_context context(1);
    asio::co_spawn(context, live(), asio::detached);
    asio::co_spawn(context, drive(context, a), asio::detached);
    context.run();
    // Both have had a turn in each lap, and the partner one before.
    return token == a.switches * static_cast<uint64_t>(a.batches) + 1 ? 0 : 1;
}
