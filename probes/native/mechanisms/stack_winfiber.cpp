// stack/winfiber: fibers of the Windows API. A fiber brings a stack of its own, so that the kit's stacks are not used;
// SwitchToFiber carries nothing to the other side, so that the token travels through memory.
#include <windows.h>

#include <algorithm>

#include "kit/experiments/creation.h"
#include "kit/os/limits.h"
#include "kit/ring/ring.h"

namespace probe {
namespace {

DWORD flags_of(const Plan& plan) { return plan.text("float_switch") == "on" ? FIBER_FLAG_FLOAT_SWITCH : 0; }

void* create_fiber(const Plan& plan, LPFIBER_START_ROUTINE entry, void* argument) {
    return CreateFiberEx(0, plan.number("stack_size"), flags_of(plan), entry, argument);
}

// The calling thread as a fiber, which it must be to hand over to one and to be handed back to.
class ThreadAsFiber {
public:
    explicit ThreadAsFiber(const Plan& plan) : fiber_(ConvertThreadToFiberEx(nullptr, flags_of(plan))) {
        if (fiber_ == nullptr)
            throw failed("set_up_failed",
                         "ConvertThreadToFiberEx refused (error " + std::to_string(GetLastError()) + ")");
    }
    ThreadAsFiber(const ThreadAsFiber&) = delete;
    ThreadAsFiber& operator=(const ThreadAsFiber&) = delete;
    ~ThreadAsFiber() { ConvertFiberToThread(); }
    void* get() const { return fiber_; }

private:
    void* fiber_;
};

template <Mode mode>
class FiberRing final : public Ring<mode, std::uint64_t> {
    using Token = std::uint64_t;

public:
    explicit FiberRing(const Plan& plan)
        : Ring<mode, Token>(plan),
          stack_size_(plan.number("stack_size")),
          driver_fiber_(plan),
          fibers_(plan.contexts),
          starts_(plan.contexts) {
        // A fiber touches the top of its stack and its own record.
        require_memory(std::uint64_t{12 * 1024} * plan.contexts);
        fibers_[0] = driver_fiber_.get();
        for (std::uint32_t i = 1; i < plan.contexts; ++i) {
            starts_[i] = {this, i};
            fibers_[i] = create_fiber(plan, &FiberRing::live, &starts_[i]);
            if (fibers_[i] != nullptr) continue;
            delete_fibers();
            throw memory_limit_failure(plan.number("stack_size"), static_cast<int>(GetLastError()));
        }
        publish();  // first entry of every context, outside every clock
    }

    ~FiberRing() override { delete_fibers(); }

    void run(std::uint64_t units) override { this->driver().drive(units / this->contexts(), passer(0)); }
    void publish() override { this->driver().send_command(Command::report, passer(0)); }

    // The system does not tell where it put a fiber's stack, but how large it is: contexts stand equally deep in
    // theirs.
    void add_counts(Counts& counts) const override {
        std::vector<std::uintptr_t> places;
        for (const Station& station : this->stations())
            places.push_back(reinterpret_cast<std::uintptr_t>(station.place));
        std::sort(places.begin(), places.end());
        std::int64_t distinct = 1;
        for (std::size_t i = 1; i < places.size(); ++i) distinct += places[i] - places[i - 1] >= stack_size_;
        counts.emplace_back("distinct_stacks", distinct);
    }

private:
    struct Start {
        FiberRing* ring;
        std::uint32_t index;
    };

    auto passer(std::uint32_t context) {
        std::uint64_t* const word = &this->state().word;
        void* const next = fibers_[next_in_ring(context, this->contexts())];
        return [word, next](Token token) __attribute__((always_inline)) {
            *word = token;
            SwitchToFiber(next);
            return *word;
        };
    }

    static void CALLBACK live(void* argument) {
        const Start start = *static_cast<Start*>(argument);
        FiberRing& ring = *start.ring;
        serve<mode, RunBy::one_thread, Token>(ring.state(), ring.station_array(), start.index, ring.state().word,
                                              ring.passer(start.index));
        __builtin_trap();  // rings of fibers are never told to stop
    }

    // Suspended wherever they are; they own nothing but their stacks.
    void delete_fibers() {
        for (std::size_t i = 1; i < fibers_.size(); ++i) {
            if (fibers_[i] != nullptr) DeleteFiber(fibers_[i]);
            fibers_[i] = nullptr;
        }
    }

    std::uint64_t stack_size_;
    ThreadAsFiber driver_fiber_;
    std::vector<void*> fibers_;
    std::vector<Start> starts_;
};

class FiberCreator {
public:
    explicit FiberCreator(const Plan& plan) : plan_(plan), creator_(plan) {}

    std::uint64_t run_one(std::uint64_t token, std::uint64_t* entered) {
        token_ = token;
        counter_ = entered;
        void* const created = CreateFiberEx(0, stack_size_, flags_, &FiberCreator::live, this);
        if (created == nullptr) throw memory_limit_failure(stack_size_, static_cast<int>(GetLastError()));
        SwitchToFiber(created);
        DeleteFiber(created);
        return token_;
    }
    std::uint64_t* counter() { return &entered_; }

private:
    // Ends by handing back: a fiber whose function returned would end the thread.
    static void CALLBACK live(void* argument) {
        FiberCreator& self = *static_cast<FiberCreator*>(argument);
        ++*self.counter_;
        ++self.token_;
        SwitchToFiber(self.creator_.get());
        __builtin_trap();
    }

    const Plan plan_;
    const std::size_t stack_size_ = plan_.number("stack_size");
    const DWORD flags_ = flags_of(plan_);
    ThreadAsFiber creator_;
    std::uint64_t token_ = 0;
    std::uint64_t* counter_ = nullptr;
    std::uint64_t entered_ = 0;
};

}  // namespace

extern const Entry stack_winfiber{"stack/winfiber",
                                  Shape::stacks,
                                  {"switch", "create", "footprint"},
                                  {{"float_switch", {"on", "off"}}, {"stack_size", {}}, working_set_parameter()},
                                  &RingOrCreation<FiberRing, FiberCreator>::make};

}  // namespace probe
