// fiber/boost: fibers of Boost.Fiber yield to each other in the order of the round-robin scheduler's queue. The main
// fiber is context 0. Boost's own dispatcher fiber stands in the same queue and takes one turn a lap.
#include "kit/parameters/depth.h"
#include "kit/parameters/fpu_state.h"
#include "kit/parameters/reads.h"
#include "kit/plan/failure.h"
#include "kit/ring/solo.h"
#include "kit/stacks/boost.h"
#include "kit/stacks/stack_ring.h"

#if PROBE_HAS_BOOST_FIBER
#include <boost/context/fixedsize_stack.hpp>
#include <boost/fiber/fiber.hpp>
#include <boost/fiber/operations.hpp>
#endif

namespace probe {
namespace {

#if PROBE_HAS_BOOST_FIBER

namespace fibers = boost::fibers;

// Gives Boost a stack that belongs to somebody else.
struct BorrowedStack {
    Stack stack;
    boost::context::stack_context allocate() const {
        boost::context::stack_context result;
        result.sp = stack.top;
        result.size = stack.size();
        return result;
    }
    void deallocate(boost::context::stack_context&) const noexcept {}
};

// Boost's own, and where it put it.
struct LibraryStack {
    boost::context::fixedsize_stack library;
    Stack* stack;
    boost::context::stack_context allocate() {
        const boost::context::stack_context result = library.allocate();
        char* const top = static_cast<char*>(result.sp);
        *stack = {top - result.size, top};
        return result;
    }
    void deallocate(boost::context::stack_context& context) noexcept { library.deallocate(context); }
};

// What the token is handed over by.
struct YieldPort {
    std::uint64_t* word;
    [[gnu::always_inline]] std::uint64_t pass(std::uint64_t token) const noexcept {
        *word = token;
        boost::this_fiber::yield();
        return *word;
    }
};

template <Mode mode, class Deep = NoDepth>
class BoostRing final : public Ring<mode, std::uint64_t> {
    using Token = std::uint64_t;

public:
    explicit BoostRing(const Plan& plan) : Ring<mode, Token>(plan), arena_(plan), stacks_(arena_.all()), depth_(plan) {
        const bool of_library = plan.text("stacks") == "library";
        fibers_.reserve(plan.contexts - 1);
        // Posted, not entered: they stand in the queue in the order of the ring.
        for (std::uint32_t i = 1; i < plan.contexts; ++i) {
            const auto life = [this, i] { live(i); };
            if (of_library) {
                fibers_.emplace_back(
                    fibers::launch::post, std::allocator_arg,
                    LibraryStack{boost::context::fixedsize_stack(plan.number("stack_size")), &stacks_[i - 1]}, life);
            } else {
                fibers_.emplace_back(fibers::launch::post, std::allocator_arg, BorrowedStack{stacks_[i - 1]}, life);
            }
        }
        publish();
    }

    ~BoostRing() override { stop(); }

    void run(std::uint64_t units) override {
        with_port(0, [this, units](auto& port) {
            this->driver().drive(units / this->contexts(),
                                 [&port](Token token) __attribute__((always_inline)) { return port.pass(token); });
        });
    }

    void publish() override {
        with_port(0, [this](auto& port) {
            this->driver().send_command(Command::report, [&port](Token token) { return port.pass(token); });
        });
    }
    void counting(bool on) override {
        depth_.counting(on);
        sequence_ = on ? this->token() : this->token() - sequence_;
    }

    void close() override {
        stop();
        arena_.check_canaries();
    }
    void add_counts(Counts& counts) const override {
        counts.emplace_back("distinct_stacks", distinct_stacks(this->stations(), stacks_));
        depth_.add_counts(counts, sequence_);
    }

private:
    void live(std::uint32_t index) {
        RingState& state = this->state();
        with_port(index, [&](auto& port) {
            state.word = serve<mode, RunBy::one_thread, Token>(
                state, this->station_array(), index, state.word,
                [&port](Token token) __attribute__((always_inline)) { return port.pass(token); });
        });
    }

    template <class Body>
    [[gnu::always_inline]] void with_port(std::uint32_t context, Body body) {
        YieldPort port{&this->state().word};
        depth_.below(context, port, body);
    }

    void stop() {
        if (fibers_.empty()) return;
        this->state().word = this->driver().stop_token();
        for (fibers::fiber& fiber : fibers_) fiber.join();
        fibers_.clear();
    }

    StackArena arena_;
    std::vector<Stack> stacks_;
    [[no_unique_address]] Deep depth_;
    std::uint64_t sequence_ = 0;  // switches of all batches, once they are over
    std::vector<fibers::fiber> fibers_;
};

template <Mode mode>
using DeepBoostRing = BoostRing<mode, Depth>;

template <Mode mode>
using PlainBoostRing = BoostRing<mode>;

class BoostCreator {
public:
    std::uint64_t run_one(Stack stack, std::uint64_t token, std::uint64_t* entered) {
        fibers::fiber fiber(fibers::launch::dispatch, std::allocator_arg, BorrowedStack{stack}, [&token, entered] {
            ++*entered;
            ++token;
        });
        fiber.join();
        return token;
    }
};

template <Mode mode>
using BoostCreation = StackCreation<mode, BoostCreator>;

std::unique_ptr<Workload> make(const Plan& plan, Mode mode) {
    if (plan.experiment == "create") return make_for_mode<BoostCreation>(plan, mode);
    if (is_deep(plan)) return make_ring_for_mode<DeepBoostRing>(plan, mode);
    if (!touches(mode)) return make_for_any_mode<PlainBoostRing>(plan, mode);
    if (plan.text("reads") == "bare") throw refused("bad_value", "reads=bare goes with working_set=0");
    return make_ring_for_mode<PlainBoostRing>(plan, mode);
}

std::optional<Unavailable> check() { return shadow_stack_in_the_way(); }

#else

constexpr auto make = nullptr;
std::optional<Unavailable> check() { return boost_missing("Boost.Fiber"); }

#endif

}  // namespace

extern const Entry fiber_boost{"fiber/boost",
                               Shape::stacks,
                               {"switch", "create", "footprint", "count"},
                               {depth_parameters()[0],
                                fpu_state_parameter(),
                                depth_parameters()[1],
                                reads_parameter(),
                                stack_memory_parameter(),
                                stack_offset_parameter(),
                                stack_size_parameter(),
                                {"stacks", {"spread", "library"}},
                                working_set_parameter()},
                               make,
                               &check};

}  // namespace probe
