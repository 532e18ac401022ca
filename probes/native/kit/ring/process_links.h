// Medium of a ProcessRing made of links: as LinkMedium, but link by link round each fork, so that every process holds
// its own ends only, and the end of any process is seen as the end of a link by the next one.
#pragma once

#include <utility>

#include "kit/ring/links.h"
#include "kit/tasks/processes.h"

namespace probe {

template <class Link>
class ProcessLinkMedium {
public:
    using Token = std::uint64_t;

    struct Port {
        int own;
        int next;
        bool is_driver;

        [[gnu::always_inline]] void send(Token token) const {
            if (!write_whole(next, &token, sizeof token)) [[unlikely]]
                partner_gone();
        }
        [[gnu::always_inline]] Token receive() const {
            Token token = 0;
            if (!read_whole(own, &token, sizeof token)) [[unlikely]]
                partner_gone();
            return token;
        }
        // A child has nothing to say; the driver's handler of SIGCHLD reports, and does not return.
        [[gnu::cold, gnu::noinline]] void partner_gone() const {
            if (!is_driver) _exit(3);
            for (;;) pause();
        }
    };

    explicit ProcessLinkMedium(std::uint32_t contexts) : contexts_(contexts) {
        if (contexts == 2) {
            auto both = open_both_ways<Link>();
            to_driver_ = std::move(both[0]);
            to_child_ = std::move(both[1]);
        } else {
            to_driver_ = open_link<Link>(0, contexts);
            to_child_ = open_link<Link>(1, contexts);
        }
        last_write_ = std::move(to_driver_.write);
        first_write_ = std::move(to_child_.write);
    }

    void before_fork(std::uint32_t context) {
        if (context + 1 == contexts_) {
            child_write_ = std::move(last_write_);  // the last context closes the ring
        } else {
            to_next_ = open_link<Link>(context + 1, contexts_);
            child_write_ = std::move(to_next_.write);
        }
    }

    Port in_child(std::uint32_t) {
        for (Descriptor* end : {&to_driver_.read, &last_write_, &first_write_, &to_next_.read}) end->reset();
        return {to_child_.read.get(), child_write_.get(), false};
    }

    void after_fork(std::uint32_t) {
        child_write_.reset();
        to_child_.read = std::move(to_next_.read);
    }

    Port port(std::uint32_t /*the driver*/) const { return {to_driver_.read.get(), first_write_.get(), true}; }

private:
    std::uint32_t contexts_;
    LinkEnds to_driver_;      // the driver reads
    LinkEnds to_child_;       // of the context forked next
    LinkEnds to_next_;        // of the one after it
    Descriptor last_write_;   // to the driver, for the last context
    Descriptor first_write_;  // the driver writes, to context 1
    Descriptor child_write_;
};

}  // namespace probe
