// For media that can be sent to only once the context that waits there has begun. The first token of a ring may come
// earlier, and in a ring that was only partly made it comes for a context that never begins: it is left here.
#pragma once

#include <atomic>

namespace probe {

// All zero is the state before. A token is neither 0 nor, the first of a context being a command, 1.
template <class Token>
class EarlyToken {
public:
    // By the sender. True: the context finds it when it begins.
    [[gnu::always_inline]] bool leave(Token token) {
        return state_.load(std::memory_order_acquire) != begun && try_to_leave(token);
    }
    // By the context, as often as it likes: the token that is there already, once, or 0.
    Token begin() {
        const Token left = state_.exchange(begun, std::memory_order_acq_rel);
        return left == begun ? 0 : left;
    }

private:
    static constexpr Token begun = 1;

    [[gnu::cold, gnu::noinline]] bool try_to_leave(Token token) {
        Token nothing = 0;
        return state_.compare_exchange_strong(nothing, token, std::memory_order_acq_rel);
    }

    std::atomic<Token> state_{0};
};

}  // namespace probe
