// For a probe of one's own that measures one mechanism: what `switchcost new-probe --language cpp` builds against.
//
// A Library is three functions and what it needs to know of a suspended context:
//
//   struct Context                                                        of the driver too: default-constructed
//   static void make(Context&, Stack, StackEntry begin, void* argument)   suspended; begins in begin(argument, token)
//   static std::uint64_t switch_to(Context& own, Context& next, std::uint64_t token)   returns with the token that
//   comes static void destroy(Context&)                                         suspended for the last time
#pragma once

#include "kit/experiments/list.h"
#include "kit/plan/session.h"
#include "kit/stacks/stack_ring.h"

namespace probe {

template <class Library>
class OwnSwitcher {
    using Context = typename Library::Context;

public:
    struct Port {
        Context* own;
        Context* next;
        [[gnu::always_inline]] std::uint64_t pass(std::uint64_t token) const {
            return Library::switch_to(*own, *next, token);
        }
    };

    OwnSwitcher(RingState&, std::uint32_t contexts) : contexts_(contexts) {}

    void prepare(std::uint32_t context, Stack stack, StackEntry entry, void* argument) {
        Library::make(contexts_[context], stack, entry, argument);
    }

    Port port(std::uint32_t context) {
        Port port{&contexts_[context], &contexts_[next_in_ring(context, contexts_.size())]};
        asm volatile("" : "+r"(port.own), "+r"(port.next));  // or clang computes them anew at every switch
        return port;
    }

private:
    std::vector<Context> contexts_;
};

// Makes a context, enters it once, comes back, destroys it.
template <class Library>
class OwnCreator {
public:
    std::uint64_t run_one(Stack stack, std::uint64_t token, std::uint64_t* entered) {
        entered_ = entered;
        Library::make(created_, stack, &OwnCreator::live, this);
        token = Library::switch_to(creator_, created_, token);
        Library::destroy(created_);
        return token;
    }

private:
    static void live(void* argument, std::uint64_t token) {
        OwnCreator& self = *static_cast<OwnCreator*>(argument);
        ++*self.entered_;
        Library::switch_to(self.created_, self.creator_, token + 1);
        __builtin_trap();
    }

    typename Library::Context creator_{};
    typename Library::Context created_{};
    std::uint64_t* entered_ = nullptr;
};

// The whole of main().
template <class Library>
int own_probe(const Build& build, const char* id, int argc, char** argv) {
    const Entry entry =
        stack_entry(id, &make_stacks<Stacks<OwnSwitcher<Library>, OwnCreator<Library>>>, &shadow_stack_in_the_way);
    const Entry* const entries[] = {&entry};
    return carry_out(build, entries, std::span(argv, static_cast<std::size_t>(argc)).subspan(1));
}

}  // namespace probe
