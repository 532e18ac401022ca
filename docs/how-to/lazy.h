// A coroutine library: a lazy task that exchanges a value with whoever resumes it.
#pragma once
#include <coroutine>
#include <cstdint>
#include <exception>
#include <utility>

namespace lazy {

class task {
public:
    struct promise_type {
        std::uint64_t value = 0;
        task get_return_object() { return task(std::coroutine_handle<promise_type>::from_promise(*this)); }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { std::terminate(); }
    };

    task() = default;
    explicit task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
    task(task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
    ~task() {
        if (handle_) handle_.destroy();
    }

    // Gives the task a value, runs it to its next exchange, and returns what it offers there.
    std::uint64_t exchange(std::uint64_t value) {
        handle_.promise().value = value;
        handle_.resume();
        return handle_.promise().value;
    }

private:
    std::coroutine_handle<promise_type> handle_;
};

// co_await lazy::offer(v) suspends with v, and gives the value that comes.
struct offer {
    std::uint64_t value;
    task::promise_type* promise = nullptr;
    explicit offer(std::uint64_t offered) : value(offered) {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<task::promise_type> own) noexcept {
        promise = &own.promise();
        promise->value = value;
    }
    std::uint64_t await_resume() const noexcept { return promise->value; }
};

}  // namespace lazy
