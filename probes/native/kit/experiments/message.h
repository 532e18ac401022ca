// Experiment message: a payload to the partner and back. The sequence number stands at the beginning of the payload,
// cut to its size, and grows by one at each switch: each side counts the arrivals that carry the number it waits for.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "kit/ring/links.h"
#include "kit/ring/ring.h"
#include "kit/ring/solo.h"
#include "kit/tasks/processes.h"

namespace probe {

enum class PartnerIs { thread, process };

template <Mode mode, class Link, PartnerIs partner>
class Message final : public Solo<mode> {
    static constexpr bool forked = partner == PartnerIs::process;

public:
    explicit Message(const Plan& plan)
        : shared_(1),
          to_(open_both_ways<Link>()),
          payload_(plan.number("payload")),
          mark_(std::min(payload_.size(), sizeof(std::uint64_t))) {
        space_mark.store(0);
        if constexpr (forked) {
            pin_self(plan.cpu_of(1));  // inherited by the child
            if (partner_.fork_child(2)) live_in_child();
            to_[1].read.reset();
            to_[0].write.reset();
            pin_self(plan.cpu_of(0));
        } else {
            partner_.start(&Message::live_in_thread, this, plan.cpu_of(1), 2);
        }
        publish();
    }

    ~Message() override {
        shared_[0].wish = Wish::end;
        if constexpr (forked) partner_.end_expected();
        write_whole(to_[1].write.get(), payload_.data(), payload_.size());
        if constexpr (forked) {
            partner_.wait_all();
        } else {
            partner_.join();
        }
    }

    void run(std::uint64_t units) override {
        this->repeat(units, [this](std::uint64_t token) __attribute__((always_inline)) {
            ++token;
            std::memcpy(payload_.data(), &token, mark_);
            exchange();
            ++token;
            const bool right = std::memcmp(payload_.data(), &token, mark_) == 0;
            answers_ += right;
            this->mismatches_ += !right;
            return token;
        });
    }

    void publish() override {
        shared_[0].wish = Wish::report;
        exchange();
        shared_[0].wish = Wish::answer;
        Station& own = shared_[0].stations[0];
        own.turns = answers_;
        own.mismatches = this->mismatches_;
        probe::publish(own, true);
    }
    std::span<const Station> stations() const override { return shared_.data()->stations; }

private:
    // What the partner is to do with a message. Written before the message is sent, read after it has come.
    enum class Wish : std::uint32_t { answer, report, end };

    struct Shared {
        Station stations[2];
        Wish wish;
    };

    [[gnu::always_inline]] void exchange() {
        const bool sent = write_whole(to_[1].write.get(), payload_.data(), payload_.size());
        if (!sent || !read_whole(to_[0].read.get(), payload_.data(), payload_.size())) [[unlikely]]
            partner_gone();
    }

    // The end of a partner process is reported by the driver's handler of SIGCHLD, which does not return.
    [[gnu::cold, gnu::noinline]] void partner_gone() {
        if constexpr (forked) {
            for (;;) pause();
        }
        ++this->mismatches_;
    }

    static void* live_in_thread(void* self) {
        static_cast<Message*>(self)->live();
        return nullptr;
    }

    [[noreturn]] void live_in_child() {
        to_[0].read.reset();
        to_[1].write.reset();
        live();
        _exit(0);
    }

    void live() {
        space_mark.store(1);
        const int from = to_[1].read.get();
        const int to = to_[0].write.get();
        std::vector<char> echo(payload_.size());
        Shared& shared = shared_[0];
        Station& own = shared.stations[1];
        std::uint64_t due = 1;
        while (read_whole(from, echo.data(), echo.size()) && shared.wish != Wish::end) {
            if (shared.wish == Wish::report) [[unlikely]] {
                probe::publish(own, true);
            } else {
                const bool right = std::memcmp(echo.data(), &due, mark_) == 0;
                own.turns += right;
                own.mismatches += !right;
                ++due;
                std::memcpy(echo.data(), &due, mark_);
                ++due;
            }
            if (!write_whole(to, echo.data(), echo.size())) break;
        }
    }

    SharedArray<Shared> shared_;
    std::array<LinkEnds, 2> to_;
    std::vector<char> payload_;
    std::size_t mark_;
    std::uint64_t answers_ = 0;
    std::conditional_t<forked, Children, Threads> partner_;
};

}  // namespace probe
