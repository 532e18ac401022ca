// fiber/state-threads: threads of the State Threads library hand a token round. Each signals the condition variable of
// the next and waits for its own. The thread that started the process is context 0.
#include <dlfcn.h>
#include <sys/auxv.h>

#include "kit/parameters/working_set.h"
#include "kit/plan/failure.h"
#include "kit/ring/ring.h"
#include "kit/stacks/stacks.h"

namespace probe {
namespace {

// What of st.h is used here. The library is looked for when the probe runs: whoever passes the probe on passes no part
// of it on, and its licence asks for more than this project's.
struct Library {
    int (*init)();
    void* (*cond_new)();
    int (*cond_signal)(void* cond);
    int (*cond_wait)(void* cond);
    void* (*thread_create)(void* (*start)(void*), void* argument, int joinable, int stack_bytes);
    int (*thread_join)(void* thread, void** result);
    const char* missing = nullptr;
};

const Library& st() {
    static const Library library = [] {
        Library found{};
        // A program without a loader has no second C library to run it on.
        void* const handle = getauxval(AT_BASE) == 0 ? nullptr : dlopen("libst.so.1", RTLD_NOW | RTLD_LOCAL);
        const auto load = [handle, &found](auto& function, const char* name) {
            void* const symbol = handle == nullptr ? nullptr : dlsym(handle, name);
            if (symbol == nullptr) found.missing = name;
            // POSIX has it that dlsym's answer is a function where the name is one.
            function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(symbol);
        };
        load(found.init, "st_init");
        load(found.cond_new, "st_cond_new");
        load(found.cond_signal, "st_cond_signal");
        load(found.cond_wait, "st_cond_wait");
        load(found.thread_create, "st_thread_create");
        load(found.thread_join, "st_thread_join");
        return found;
    }();
    return library;
}

// The library's own default. It maps each stack with room to spare on either side.
constexpr std::size_t stack_bytes = std::size_t{64} << 10;

template <Mode mode>
class StateThreadsRing final : public Ring<mode, std::uint64_t> {
    using Token = std::uint64_t;

public:
    explicit StateThreadsRing(const Plan& plan)
        : Ring<mode, Token>(plan), turns_(plan.contexts), stacks_(plan.contexts - 1), starts_(plan.contexts) {
        if (st().init() != 0) throw failed("set_up_failed", "st_init fails", errno);
        for (void*& turn : turns_) turn = made(st().cond_new());
        // Ready, not entered: they stand in the library's queue in the order of the ring.
        for (std::uint32_t i = 1; i < plan.contexts; ++i) {
            starts_[i] = {this, i};
            threads_.push_back(made(st().thread_create(&live, &starts_[i], 1, stack_bytes)));
        }
        publish();
    }

    ~StateThreadsRing() override { stop(); }

    void run(std::uint64_t units) override { this->driver().drive(units / this->contexts(), passing(0)); }
    void publish() override { this->driver().send_command(Command::report, passing(0)); }
    void close() override { stop(); }
    void add_counts(Counts& counts) const override {
        counts.emplace_back("distinct_stacks", distinct_stacks(this->stations(), stacks_));
    }

private:
    struct Start {
        StateThreadsRing* ring;
        std::uint32_t index;
    };

    static void* made(void* handle) {
        if (handle == nullptr) {
            throw unsupported("limit_reached", "State Threads has no memory for so many; ask for fewer contexts",
                              errno);
        }
        return handle;
    }

    auto passing(std::uint32_t index) {
        return [word = &this->state().word, next = turns_[(index + 1) % turns_.size()], own = turns_[index],
                signal = st().cond_signal, wait = st().cond_wait](Token token) __attribute__((always_inline)) {
            *word = token;
            signal(next);
            wait(own);
            return *word;
        };
    }

    static void* live(void* argument) {
        const auto [ring, index] = *static_cast<Start*>(argument);
        char* const frame = static_cast<char*>(__builtin_frame_address(0));
        ring->stacks_[index - 1] = {frame - stack_bytes / 2, frame + 64};
        RingState& state = ring->state();
        state.word = serve<mode, RunBy::one_thread, Token>(state, ring->station_array(), index, state.word,
                                                           ring->passing(index));
        st().cond_signal(ring->turns_[(index + 1) % ring->turns_.size()]);
        return nullptr;
    }

    void stop() {
        if (threads_.empty()) return;
        this->state().word = this->driver().stop_token();
        st().cond_signal(turns_[1]);
        for (void* thread : threads_) st().thread_join(thread, nullptr);
        threads_.clear();
    }

    std::vector<void*> turns_;  // a condition variable each
    std::vector<Stack> stacks_;
    std::vector<Start> starts_;
    std::vector<void*> threads_;
};

constexpr auto make = &make_ring_for_mode<StateThreadsRing>;

std::optional<Unavailable> check() {
    if (st().missing == nullptr) return {};
    const bool without_loader = getauxval(AT_BASE) == 0;
    return Unavailable{"missing_library",
                       without_loader ? "this probe is linked statically and loads no library; another build can"
                                      : "State Threads (libst.so.1) is not here",
                       without_loader ? "" : "State Threads (Debian: libst1)"};
}

}  // namespace

extern const Entry fiber_state_threads{"fiber/state-threads",     Shape::stacks, {"switch"},
                                       {working_set_parameter()}, make,          &check};

}  // namespace probe
