// stack/sjlj: _setjmp and _longjmp between stacks. The standard allows longjmp only to a function that is still active
// on the same stack; C libraries allow the rest as long as the target frame is alive, which it is here: every context
// waits inside its loop. A context's first entry is by makecontext and swapcontext, once.
#include "kit/stacks/longjmp.h"
#include "kit/stacks/stack_ring.h"
#include "kit/stacks/ucontext.h"

namespace probe {
namespace {

#if PROBE_HAS_UCONTEXT

// One hop. The token is written before _setjmp and read after the jump back; no local variable changes in between.
#define PROBE_JUMP(own, next, state) \
    ++(state).word;                  \
    if (_setjmp(own) == 0) switchcost_longjmp(next, 1)
#define PROBE_EIGHT(what) \
    what;                 \
    what;                 \
    what;                 \
    what;                 \
    what;                 \
    what;                 \
    what;                 \
    what
static_assert(turns_a_check == 8);

// A function that calls setjmp is never inlined, so that the jump cannot hide behind a `pass` as in the other rings:
// the two loops spell it out. Nothing is changed between _setjmp and the jump back, hence no local variable is in
// doubt.
template <Mode mode>
class SjljRing final : public Ring<mode, std::uint64_t> {
    using Token = std::uint64_t;

public:
    explicit SjljRing(const Plan& plan)
        : Ring<mode, Token>(plan), sparse_(checks_sparsely<mode>(plan)), arena_(plan), suspended_(plan.contexts) {
        for (std::uint32_t i = 1; i < plan.contexts; ++i) begin(i);
        publish();
    }

    void run(std::uint64_t units) override {
        auto turn = this->driver().turn_copy();
        RingState& state = this->state();
        state.word = this->driver().token();
        Station* const stations = this->station_array();
        Registers* const own = suspended_[0].registers;
        Registers* const next = suspended_[1].registers;
        // Counts by the expected token: a counter of its own would be one more variable that changes across _setjmp.
        const Token end = turn.expected + units;
        if (mode == Mode::batch && sparse_) {
            // Between two checks nothing but the token changes, which is in memory anyway.
            while (turn.expected != end) {
                PROBE_EIGHT(PROBE_JUMP(own, next, state));
                turn.expected += (turns_a_check - 1) * turn.stride;
                turn.arrive(state.word, stations);
            }
            this->driver().put_back(turn, state.word);
            return;
        }
        while (turn.expected != end) {
            turn.depart();
            PROBE_JUMP(own, next, state);
            turn.arrive(state.word, stations);
        }
        this->driver().put_back(turn, state.word);
    }

    void publish() override {
        this->driver().send_command(Command::report, [this](Token token) { return jump_round(token); });
    }

    void close() override { arena_.check_canaries(); }
    std::uint64_t far_steps() const override { return arena_.far_steps(); }
    void add_counts(Counts& counts) const override {
        counts.emplace_back("distinct_stacks", distinct_stacks(this->stations(), arena_.all()));
    }

private:
    struct Suspended {
        jmp_buf registers;
    };

    [[gnu::noinline]] Token jump_round(Token token) {
        this->state().word = token;
        if (_setjmp(suspended_[0].registers) == 0) switchcost_longjmp(suspended_[1].registers, 1);
        return this->state().word;
    }

    void begin(std::uint32_t context) {
        prepare_context(entrance_, arena_.at(context - 1), nullptr);
        beginning_ = this;
        beginning_context_ = context;
        makecontext(&entrance_, &SjljRing::live, 0);
        swapcontext(&exit_, &entrance_);
    }

    static void live() {
        SjljRing& ring = *beginning_;
        const std::uint32_t index = beginning_context_;
        RingState& state = ring.state();
        Station* const stations = ring.station_array();
        Registers* const own = ring.suspended_[index].registers;
        Registers* const next = ring.suspended_[next_in_ring(index, ring.contexts())].registers;
        if (_setjmp(own) == 0) setcontext(&ring.exit_);
        Turn<mode, Token> turn(state, index);
        for (;;) {
            while (mode == Mode::batch && ring.sparse_ && state.word == turn.expected) {
                PROBE_EIGHT(PROBE_JUMP(own, next, state));
                turn.expected += turns_a_check * turn.stride;
            }
            if (!turn.arrive(state.word, stations)) break;
            turn.depart();
            PROBE_JUMP(own, next, state);
        }
        __builtin_trap();  // rings of stacks are never told to stop
    }

    // Arguments of the context that is about to begin; makecontext takes no pointers.
    inline static SjljRing* beginning_ = nullptr;
    inline static std::uint32_t beginning_context_ = 0;

    const bool sparse_;
    StackArena arena_;
    std::vector<Suspended> suspended_;
    ucontext_t entrance_{};
    ucontext_t exit_{};
};

class SjljCreator {
public:
    [[gnu::noinline]] std::uint64_t run_one(Stack stack, std::uint64_t token, std::uint64_t* entered) {
        entered_ = entered;
        token_ = token;
        current_ = this;
        prepare_context(entrance_, stack, nullptr);
        makecontext(&entrance_, &SjljCreator::live, 0);
        swapcontext(&exit_, &entrance_);                              // creates: the context suspends itself at once
        if (_setjmp(creator_) == 0) switchcost_longjmp(created_, 1);  // enters
        return token_;
    }

private:
    static void live() {
        SjljCreator& self = *current_;
        if (_setjmp(self.created_) == 0) setcontext(&self.exit_);
        ++*self.entered_;
        ++self.token_;
        switchcost_longjmp(self.creator_, 1);
    }

    inline static SjljCreator* current_ = nullptr;
    ucontext_t entrance_{};
    ucontext_t exit_{};
    jmp_buf creator_;
    jmp_buf created_;
    std::uint64_t token_ = 0;
    std::uint64_t* entered_ = nullptr;
};

template <Mode mode>
using SjljCreation = StackCreation<mode, SjljCreator>;

std::unique_ptr<Workload> make(const Plan& plan, Mode mode) {
    require_ucontext_stack(plan);
    return plan.experiment == "create" ? make_for_mode<SjljCreation>(plan, mode)
                                       : make_ring_for_mode<SjljRing>(plan, mode);
}

std::optional<Unavailable> check() { return shadow_stack_in_the_way(); }

#else

constexpr auto make = nullptr;
std::optional<Unavailable> check() { return ucontext_missing(); }

#endif

}  // namespace

extern const Entry stack_sjlj = stack_entry("stack/sjlj", make, &check);

}  // namespace probe
