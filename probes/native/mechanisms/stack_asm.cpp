// stack/asm: the probe's own minimal switch (asm/stack_switch.h), the floor of the family.
#include "asm/stack_switch.h"

#include "kit/stacks/stack_ring.h"

namespace probe {
namespace {

class AsmSwitcher {
public:
    struct Port {
        void** own;
        void** next;
        [[gnu::always_inline]] std::uint64_t pass(std::uint64_t token) const {
            return switchcost_stack_switch(own, *next, token);
        }
    };

    AsmSwitcher(RingState&, std::uint32_t contexts) : suspended_(contexts) {}

    void prepare(std::uint32_t context, Stack stack, StackEntry entry, void* argument) {
        suspended_[context] = make_initial_frame(stack.top, entry, argument);
    }

    Port port(std::uint32_t context) {
        Port port{&suspended_[context], &suspended_[next_in_ring(context, suspended_.size())]};
        // Hides from the compiler how the addresses were made. clang computed them anew at every hop, with an index
        // reloaded from the new stack: one load more in the chain from stack pointer to stack pointer, 4.0 ns instead
        // of 1.7 ns.
        asm volatile("" : "+r"(port.own), "+r"(port.next));
        return port;
    }

private:
    std::vector<void*> suspended_;  // stack pointers of the suspended contexts
};

class AsmCreator {
public:
    [[gnu::always_inline]] std::uint64_t run_one(Stack stack, std::uint64_t token, std::uint64_t* entered) {
        entered_ = entered;
        return switchcost_stack_switch(&creator_, make_initial_frame(stack.top, &AsmCreator::live, this), token);
    }

private:
    static void live(void* argument, std::uint64_t token) {
        AsmCreator& self = *static_cast<AsmCreator*>(argument);
        ++*self.entered_;
        switchcost_stack_switch(&self.finished_, self.creator_, token + 1);
        __builtin_trap();
    }

    void* creator_ = nullptr;
    void* finished_ = nullptr;  // never continued
    std::uint64_t* entered_ = nullptr;
};

}  // namespace

extern const Entry stack_asm = stack_entry("stack/asm", &make_stacks<Stacks<AsmSwitcher, AsmCreator>>,
                                           &shadow_stack_in_the_way, depth_parameters());

}  // namespace probe
