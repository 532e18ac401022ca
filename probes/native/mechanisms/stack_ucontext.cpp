// stack/ucontext: the C library's swapcontext. Besides the registers it saves and restores the signal mask, by a system
// call, and the floating-point environment.
#include "kit/stacks/ucontext.h"

#include "kit/stacks/stack_ring.h"

namespace probe {
namespace {

#if PROBE_HAS_UCONTEXT

// makecontext passes int arguments only: a pointer travels in two halves.
using IntFunction = void (*)();
void make_with_pointer(ucontext_t& context, Stack stack, void (*entry)(unsigned, unsigned), void* argument,
                       ucontext_t* link) {
    prepare_context(context, stack, link);
    const auto bits = reinterpret_cast<std::uintptr_t>(argument);
    makecontext(&context, reinterpret_cast<IntFunction>(reinterpret_cast<void*>(entry)), 2, static_cast<unsigned>(bits),
                static_cast<unsigned>(std::uint64_t{bits} >> 32));
}

template <class T>
T& from_halves(unsigned low, unsigned high) {
    return *reinterpret_cast<T*>(static_cast<std::uintptr_t>((std::uint64_t{high} << 32) | low));
}

class UcontextSwitcher {
public:
    struct Port {
        ucontext_t* own;
        ucontext_t* next;
        std::uint64_t* word;  // swapcontext has no argument for the other side
        [[gnu::always_inline]] std::uint64_t pass(std::uint64_t token) const {
            *word = token;
            swapcontext(own, next);
            return *word;
        }
    };

    UcontextSwitcher(RingState& state, std::uint32_t contexts)
        : suspended_(contexts), begins_(contexts), word_(&state.word) {}

    void prepare(std::uint32_t context, Stack stack, StackEntry entry, void* argument) {
        begins_[context] = {entry, argument, word_};
        make_with_pointer(suspended_[context], stack, &UcontextSwitcher::begin, &begins_[context], nullptr);
    }

    Port port(std::uint32_t context) {
        return {&suspended_[context], &suspended_[next_in_ring(context, suspended_.size())], word_};
    }

private:
    struct Begin {
        StackEntry entry;
        void* argument;
        std::uint64_t* word;
    };

    static void begin(unsigned low, unsigned high) {
        const Begin& own = from_halves<Begin>(low, high);
        own.entry(own.argument, *own.word);
    }

    std::vector<ucontext_t> suspended_;
    std::vector<Begin> begins_;
    std::uint64_t* word_;
};

class UcontextCreator {
public:
    std::uint64_t run_one(Stack stack, std::uint64_t token, std::uint64_t* entered) {
        entered_ = entered;
        token_ = token;
        make_with_pointer(created_, stack, &UcontextCreator::live, this, &creator_);
        swapcontext(&creator_, &created_);
        return token_;
    }

private:
    static void live(unsigned low, unsigned high) {
        UcontextCreator& self = from_halves<UcontextCreator>(low, high);
        ++*self.entered_;
        ++self.token_;
    }  // returns through uc_link

    ucontext_t creator_{};
    ucontext_t created_{};
    std::uint64_t token_ = 0;
    std::uint64_t* entered_ = nullptr;
};

std::unique_ptr<Workload> make(const Plan& plan, Mode mode) {
    require_ucontext_stack(plan);
    return make_stacks<Stacks<UcontextSwitcher, UcontextCreator>>(plan, mode);
}

std::optional<Unavailable> check() { return std::nullopt; }

#else

constexpr auto make = nullptr;
std::optional<Unavailable> check() { return ucontext_missing(); }

#endif

}  // namespace

extern const Entry stack_ucontext = stack_entry("stack/ucontext", make, &check, depth_parameters());

}  // namespace probe
