// The skeleton of controls in which one thread sends itself eight bytes over a link: a switch's system calls and its
// medium, without the switch.
#pragma once

#include "kit/ring/links.h"
#include "kit/ring/solo.h"

namespace probe {

template <Mode mode, class Link>
class SelfLink final : public Solo<mode> {
public:
    explicit SelfLink(const Plan&) : ends_(open_link<Link>(0, 1)) {}
    void run(std::uint64_t units) override {
        const int from = ends_.read.get();
        const int to = ends_.write.get();
        this->repeat(units, [this, from, to](std::uint64_t token) __attribute__((always_inline)) {
            std::uint64_t sent = token + 1;
            std::uint64_t received = 0;
            const bool written = write(to, &sent, sizeof sent) == sizeof sent;
            const bool read_back = read(from, &received, sizeof received) == sizeof received;
            this->mismatches_ += !written | !read_back | (received != sent);
            return received;
        });
    }

private:
    LinkEnds ends_;
};

}  // namespace probe
