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
            open_both_ways<Link>(to_driver_, to_child_);
        } else {
            to_driver_ = open_link<Link>(0, contexts);
            to_child_ = open_next(1);
        }
        std::swap(last_write_, to_driver_.write);
        std::swap(first_write_, to_child_.write);
    }
    ProcessLinkMedium(const ProcessLinkMedium&) = delete;
    ProcessLinkMedium& operator=(const ProcessLinkMedium&) = delete;
    ~ProcessLinkMedium() { close_all(); }

    void before_fork(std::uint32_t context) {
        if (context + 1 == contexts_) {
            std::swap(child_write_, last_write_);  // the last context closes the ring
        } else {
            to_next_ = open_link<Link>(context + 1, contexts_);
            std::swap(child_write_, to_next_.write);
        }
    }

    Port in_child(std::uint32_t) {
        for (int* fd : {&to_driver_.read, &last_write_, &first_write_, &to_next_.read}) close_once(*fd);
        return {to_child_.read, child_write_, false};
    }

    void after_fork(std::uint32_t) {
        close_once(to_child_.read);
        close_once(child_write_);
        std::swap(to_child_.read, to_next_.read);
    }

    Port driver_port() const { return {to_driver_.read, first_write_, true}; }

private:
    LinkEnds open_next(std::uint32_t context) {
        try {
            return open_link<Link>(context, contexts_);
        } catch (...) {
            close_all();  // the constructor has not finished, so that no destructor runs
            throw;
        }
    }
    void close_all() {
        for (int* fd : {&to_driver_.read, &to_driver_.write, &last_write_, &to_child_.read, &to_child_.write,
                        &first_write_, &child_write_, &to_next_.read, &to_next_.write}) {
            close_once(*fd);
        }
    }

    std::uint32_t contexts_;
    LinkEnds to_driver_;    // the driver reads
    LinkEnds to_child_;     // of the context forked next
    LinkEnds to_next_;      // of the one after it
    int last_write_ = -1;   // to the driver, for the last context
    int first_write_ = -1;  // the driver writes, to context 1
    int child_write_ = -1;
};

}  // namespace probe
