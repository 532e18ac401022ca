// Two coroutines transfer to each other; the first returns to main at the end of a batch. The empty asm hides who is
// resumed, or clang removes the switch. Each hop passes a number on through memory.
#include <coroutine>
#include <exception>

#include "plain.h"

struct Task {
    struct promise_type {
        Task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { std::terminate(); }
    };
    std::coroutine_handle<> handle;
};

static std::coroutine_handle<> driver, partner;
static uint64_t token, hops;

struct Transfer {
    std::coroutine_handle<> to;
    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<>) const noexcept {
        void* address = to.address();
        asm volatile("" : "+r"(address));
        return std::coroutine_handle<>::from_address(address);
    }
    void await_resume() const noexcept {}
};

static Task live() {
    const Transfer to_driver{driver};
    for (;;) {
        token++;
        co_await to_driver;
    }
}

static Task drive() {
    const Transfer to_partner{partner};
    for (;;) {
        for (uint64_t i = 0; i < hops; i += 2) {
            token++;
            co_await to_partner;
        }
        co_await std::suspend_always{};
    }
}

int main(int argc, char** argv) {
    plain_arguments a = plain_start(argc, argv);
    hops = a.switches;
    driver = drive().handle;
    partner = live().handle;
    for (int b = 0; b < a.batches; b++) {
        uint64_t begin = plain_now();
        driver.resume();
        plain_print(plain_now() - begin, a.switches);
    }
    return token != a.switches * a.batches;
}
