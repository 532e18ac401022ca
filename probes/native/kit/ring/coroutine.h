// A coroutine that begins suspended and whose frame its handle's owner destroys.
#pragma once

#include <coroutine>
#include <exception>

namespace probe {

struct Coroutine {
    struct promise_type {
        Coroutine get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { std::terminate(); }
    };
    std::coroutine_handle<> handle;
};

}  // namespace probe
