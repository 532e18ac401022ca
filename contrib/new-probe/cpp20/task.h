// Stands for your library: the smallest coroutine that hands a value each way.
#pragma once
#include <coroutine>
#include <cstdint>
#include <exception>
#include <utility>

class Task {
public:
    struct promise_type {
        std::uint64_t passed = 0;  // to the coroutine and back

        Task get_return_object() { return Task(std::coroutine_handle<promise_type>::from_promise(*this)); }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { std::terminate(); }

        // co_yield hands a value on, and gives the next one that comes.
        struct Yield {
            promise_type& promise;
            bool await_ready() const noexcept { return false; }
            void await_suspend(std::coroutine_handle<>) const noexcept {}
            std::uint64_t await_resume() const noexcept { return promise.passed; }
        };
        Yield yield_value(std::uint64_t value) noexcept {
            passed = value;
            return {*this};
        }
    };

    Task() = default;
    explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
    Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
    Task& operator=(Task&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~Task() {
        if (handle_) handle_.destroy();
    }

    std::uint64_t send(std::uint64_t value) {
        handle_.promise().passed = value;
        handle_.resume();
        return handle_.promise().passed;
    }

private:
    std::coroutine_handle<promise_type> handle_;
};
