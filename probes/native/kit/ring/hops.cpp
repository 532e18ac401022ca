#include "kit/ring/hops.h"

#include <algorithm>
#include <vector>

namespace probe {
namespace {

// Changes kept of all contexts together (16 MiB, of which only what is written costs memory), and of one at least.
constexpr std::uint32_t room_for_changes = 1 << 20;
constexpr std::uint32_t least_changes = 16;

struct Change {
    std::uint64_t sequence;
    std::uint32_t context;
    std::int32_t cpu;
};

// Counts hops from the changes in their order. Between two changes that concern it, every hop into a context is like
// the one before.
class Count {
public:
    Count(std::vector<std::int32_t> cpus, std::uint64_t from) : cpus_(std::move(cpus)), settled_(cpus_.size(), from) {}

    void change(const Change& change) {
        const std::uint64_t contexts = cpus_.size();
        settle(change.context, change.sequence - 1);
        settle((change.context + 1) % contexts, change.sequence);
        cpus_[change.context] = change.cpu;
    }

    std::uint64_t same_cpu(std::uint64_t to) {
        for (std::uint64_t context = 0; context < cpus_.size(); ++context) settle(context, to);
        return same_;
    }

private:
    // Token s arrives at context s mod N, from the one before it.
    void settle(std::uint64_t context, std::uint64_t to) {
        const std::uint64_t contexts = cpus_.size();
        const std::uint64_t from = settled_[context];
        if (to <= from) return;
        settled_[context] = to;
        if (cpus_[context] != cpus_[(context + contexts - 1) % contexts]) return;
        same_ += (to + contexts - context) / contexts - (from + contexts - context) / contexts;
    }

    std::vector<std::int32_t> cpus_;
    std::vector<std::uint64_t> settled_;  // hops into each context are counted up to here
    std::uint64_t same_ = 0;
};

}  // namespace

CpuTrails::CpuTrails(std::uint32_t contexts)
    : contexts_(contexts),
      limit_(std::max(room_for_changes / contexts, least_changes)),
      trails_(contexts),
      changes_(std::size_t{limit_} * contexts) {}

void CpuTrails::begin(std::uint64_t from) {
    from_ = from;
    for (std::uint32_t i = 0; i < contexts_; ++i) {
        CpuTrail& trail = trails_[i];
        trail.first = trail.cpu;
        trail.count = 0;
        trail.lost = 0;
    }
}

void CpuTrails::note(std::uint32_t context, std::uint64_t sequence, std::int32_t cpu) noexcept {
    CpuTrail& trail = trails_[context];
    trail.cpu = cpu;
    if (trail.count < limit_) {
        changes_[std::size_t{limit_} * context + trail.count++] = {sequence, cpu};
    } else if (trail.lost == 0) {
        trail.lost = sequence;
    }
}

Hops CpuTrails::examine(std::uint64_t to) const {
    Hops hops;
    std::vector<std::int32_t> cpus(contexts_);
    for (std::uint32_t i = 0; i < contexts_; ++i) {
        const CpuTrail& trail = trails_.data()[i];
        cpus[i] = trail.first;
        hops.cpus.insert(trail.first);
        if (trail.lost == 0) continue;
        to = std::min(to, trail.lost - 1);
        hops.why =
            "the contexts changed their CPU more often than there is room to note: the hops up to there are covered";
    }
    std::vector<Change> changes;
    for (std::uint32_t i = 0; i < contexts_; ++i) {
        const CpuChange* own = changes_.data() + std::size_t{limit_} * i;
        for (std::uint32_t k = 0; k < trails_.data()[i].count && own[k].sequence <= to; ++k)
            changes.push_back({own[k].sequence, i, own[k].cpu});
    }
    std::sort(changes.begin(), changes.end(),
              [](const Change& left, const Change& right) { return left.sequence < right.sequence; });
    Count count(std::move(cpus), from_);
    for (const Change& change : changes) {
        count.change(change);
        hops.cpus.insert(change.cpu);
    }
    hops.count = to - from_;
    hops.migrations = changes.size();
    hops.same_cpu = count.same_cpu(to);
    return hops;
}

}  // namespace probe
