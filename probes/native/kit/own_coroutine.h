// For a probe of one's own that measures C++20 coroutines: contexts that the driver resumes in turn, each with the
// token that the one before it handed on. What `switchcost new-probe --language cpp20` builds against.
//
// A Library is a type and three functions:
//
//   class Coroutine                                    owns one suspended coroutine: default-constructed, moved
//   static Coroutine make(Turn turn)                   suspended; resumed with a token it hands on turn(token), and
//                                                      suspends again. A template: Turn's type is the kit's.
//   static std::uint64_t resume(Coroutine&, std::uint64_t token)     continues it and returns what it hands on
//   static std::uint64_t make_and_end(std::uint64_t token, std::uint64_t& entered)   makes one that adds one to
//                                                      `entered` and gives token + 1, lets it end, destroys it
//
// The driver is not a context: a switch is one resumption and one suspension.
#pragma once

#include <vector>

#include "kit/experiments/creation.h"
#include "kit/experiments/list.h"
#include "kit/plan/session.h"
#include "kit/ring/ring.h"

namespace probe {

template <class Library, Mode mode>
class ResumedRing final : public Ring<mode, std::uint64_t> {
    using Token = std::uint64_t;

public:
    explicit ResumedRing(const Plan& plan) : Ring<mode, Token>(plan) {
        turns_.reserve(plan.contexts);
        members_.reserve(plan.contexts);
        for (std::uint32_t i = 0; i < plan.contexts; ++i) {
            turns_.emplace_back(this->state(), i);
            members_.push_back(Library::make(Own{&turns_[i], this->station_array()}));
        }
        publish();  // first entry of every context but 0, outside every clock
    }

    void run(std::uint64_t units) override {
        turns_[0].expected = this->driver().turn_copy().expected;
        Token carried = this->driver().token() + 1;
        turns_[0].depart();
        for (std::uint64_t laps = units / this->contexts(); laps != 0; --laps)
            carried = Library::resume(members_[0], lap(carried));
        this->driver().put_back(turns_[0], carried - 1);
    }

    void publish() override {
        this->driver().send_command(Command::report, [this](Token token) { return lap(token); });
    }

private:
    // What a coroutine calls once per turn, with the token that it was resumed with.
    struct Own {
        Turn<mode, Token>* turn;
        Station* stations;
        [[gnu::always_inline]] Token operator()(Token token) const noexcept {
            turn->arrive(token, stations);
            turn->depart();
            return token + 1;
        }
    };

    [[gnu::always_inline]] Token lap(Token token) {
        for (std::size_t i = 1; i < members_.size(); ++i) token = Library::resume(members_[i], token);
        return token;
    }

    std::vector<Turn<mode, Token>> turns_;
    std::vector<typename Library::Coroutine> members_;
};

template <class Library>
class ResumedCreator {
public:
    explicit ResumedCreator(const Plan&) {}
    std::uint64_t run_one(std::uint64_t token, std::uint64_t* entered) {
        return Library::make_and_end(token, *entered);
    }
    std::uint64_t* counter() { return &entered_; }

private:
    std::uint64_t entered_ = 0;
};

template <class Library>
struct ResumedWorkloads {
    template <Mode mode>
    using InTurn = ResumedRing<Library, mode>;
    template <Mode mode>
    using Made = Creation<mode, ResumedCreator<Library>>;

    static std::unique_ptr<Workload> make(const Plan& plan, Mode mode) {
        return plan.asked->live == Live::unit ? make_for_mode<Made>(plan, mode) : make_for_mode<InTurn>(plan, mode);
    }
};

// The whole of main().
template <class Library>
int own_coroutine_probe(const Build& build, const char* id, int argc, char** argv) {
    const Entry entry{id, Shape::stacks, of_stacks, {}, &ResumedWorkloads<Library>::make};
    const Entry* const entries[] = {&entry};
    return carry_out(build, entries, std::span(argv, static_cast<std::size_t>(argc)).subspan(1));
}

}  // namespace probe
