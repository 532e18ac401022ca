// stack/fcontext: Boost.Context's make_fcontext and jump_fcontext. Saves the six callee-saved registers, MXCSR and the
// x87 control word.
#include "kit/parameters/fpu_state.h"
#include "kit/stacks/boost.h"
#include "kit/stacks/stack_ring.h"

#if PROBE_HAS_BOOST_CONTEXT
// Linked statically, therefore hidden: see asm/stack_switch.h.
#pragma GCC visibility push(hidden)
#include <boost/context/detail/fcontext.hpp>
#pragma GCC visibility pop
#endif

namespace probe {
namespace {

#if PROBE_HAS_BOOST_CONTEXT

namespace fcontext = boost::context::detail;

class FcontextSwitcher {
public:
    static constexpr bool checks_sparsely = true;

    struct Port {
        fcontext::fcontext_t* previous;
        fcontext::fcontext_t* next;
        // Whoever arrives is told where the one before it was suspended, and notes it for the next lap.
        [[gnu::always_inline]] std::uint64_t pass(std::uint64_t token) const {
            const fcontext::transfer_t from = fcontext::jump_fcontext(*next, reinterpret_cast<void*>(token));
            *previous = from.fctx;
            return reinterpret_cast<std::uint64_t>(from.data);
        }
    };

    // In a ring of two the context that arrives came from the one to go to next: no memory is needed, as in any program
    // that ping-pongs with Boost. Going through the slots would put a store and a load of the same word into the chain,
    // 0.4 ns here.
    struct PairPort {
        fcontext::fcontext_t peer;
        [[gnu::always_inline]] std::uint64_t pass(std::uint64_t token) {
            const fcontext::transfer_t from = fcontext::jump_fcontext(peer, reinterpret_cast<void*>(token));
            peer = from.fctx;
            return reinterpret_cast<std::uint64_t>(from.data);
        }
    };

    FcontextSwitcher(RingState&, std::uint32_t contexts) : suspended_(contexts), begins_(contexts) {}

    void prepare(std::uint32_t context, Stack stack, StackEntry entry, void* argument) {
        const std::uint32_t count = static_cast<std::uint32_t>(suspended_.size());
        begins_[context] = {entry, argument, &suspended_[(context + count - 1) % count]};
        const fcontext::fcontext_t fresh = fcontext::make_fcontext(stack.top, stack.size(), &FcontextSwitcher::begin);
        // Entered once for its argument; the token arrives with the second jump.
        suspended_[context] = fcontext::jump_fcontext(fresh, &begins_[context]).fctx;
    }

    Port port(std::uint32_t context) {
        const std::uint32_t count = static_cast<std::uint32_t>(suspended_.size());
        return {&suspended_[context == 0 ? count - 1 : context - 1], &suspended_[next_in_ring(context, count)]};
    }

    PairPort pair_port(std::uint32_t context) const { return {suspended_[1 - context]}; }
    void keep(std::uint32_t context, const PairPort& port) { suspended_[1 - context] = port.peer; }

private:
    struct Begin {
        StackEntry entry;
        void* argument;
        fcontext::fcontext_t* previous;
    };

    static void begin(fcontext::transfer_t maker) {
        const Begin own = *static_cast<Begin*>(maker.data);
        const fcontext::transfer_t from = fcontext::jump_fcontext(maker.fctx, nullptr);
        *own.previous = from.fctx;
        own.entry(own.argument, reinterpret_cast<std::uint64_t>(from.data));
    }

    std::vector<fcontext::fcontext_t> suspended_;
    std::vector<Begin> begins_;
};

class FcontextCreator {
public:
    [[gnu::always_inline]] std::uint64_t run_one(Stack stack, std::uint64_t token, std::uint64_t* entered) {
        entered_ = entered;
        token_ = token;
        return reinterpret_cast<std::uint64_t>(
            fcontext::jump_fcontext(fcontext::make_fcontext(stack.top, stack.size(), &FcontextCreator::live), this)
                .data);
    }

private:
    static void live(fcontext::transfer_t creator) {
        FcontextCreator& self = *static_cast<FcontextCreator*>(creator.data);
        ++*self.entered_;
        fcontext::jump_fcontext(creator.fctx, reinterpret_cast<void*>(self.token_ + 1));
        __builtin_trap();
    }

    std::uint64_t token_ = 0;
    std::uint64_t* entered_ = nullptr;
};

constexpr auto make = &make_stacks<Stacks<FcontextSwitcher, FcontextCreator>>;

std::optional<Unavailable> check() { return shadow_stack_in_the_way(); }

#else

constexpr auto make = nullptr;
std::optional<Unavailable> check() { return boost_missing("Boost.Context"); }

#endif

}  // namespace

extern const Entry stack_fcontext = [] {
    std::vector<Parameter> own = depth_parameters();
    own.push_back(fpu_state_parameter());
    return stack_entry("stack/fcontext", make, &check, std::move(own));
}();

}  // namespace probe
