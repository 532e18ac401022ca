// Rings of threads that wait in io_uring. A Context is what each has, and how it is sent to:
//
//   Context(const Plan&, const Context* first); may throw Failure; has a Uring named ring and an
//                                               EarlyToken<Token> named early; null: it is the first
//   void send(Context& next, Token token);      in the thread of the Context: prepares it, or does it
//   Token receive();                            in the same thread
//   void leave();                               in the same thread: what was sent last goes out without a wait
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "kit/ring/early.h"
#include "kit/ring/uring.h"
#include "kit/tasks/tasks.h"

namespace probe {

template <class Context, class TokenType>
class UringMedium {
public:
    using Token = TokenType;

    struct Port {
        Context* own;
        Context* next;

        Token came_early;

        Port(Context* mine, Context* others) : own(mine), next(others) {
            own->ring.begin();
            came_early = own->early.begin();
        }
        Port(const Port&) = delete;
        Port& operator=(const Port&) = delete;
        // What was sent last, and is not followed by a wait.
        ~Port() { own->leave(); }

        [[gnu::always_inline]] void send(Token token) {
            if (next->early.leave(token)) [[unlikely]]
                return;
            own->send(*next, token);
        }
        [[gnu::always_inline]] Token receive() {
            if (came_early != 0) [[unlikely]]
                return std::exchange(came_early, 0);
            return own->receive();
        }
    };

    explicit UringMedium(const Plan& plan) {
        for (std::uint32_t i = 0; i < plan.contexts; ++i)
            contexts_.push_back(std::make_unique<Context>(plan, i == 0 ? nullptr : contexts_[0].get()));
    }
    Port port(std::uint32_t context) {
        return {contexts_[context].get(), contexts_[next_in_ring(context, contexts_.size())].get()};
    }

protected:
    std::vector<std::unique_ptr<Context>> contexts_;
};

template <class Context, class Token>
struct UringThreads {
    template <Mode mode>
    using Ring = ThreadRing<mode, UringMedium<Context, Token>>;

    static std::unique_ptr<Workload> make(const Plan& plan, Mode mode) { return make_ring_for_mode<Ring>(plan, mode); }
};

}  // namespace probe
