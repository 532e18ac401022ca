// Memory that each process has touched before the first switch, and leaves alone afterwards (parameters `resident` and
// `pages`).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kit/plan/mechanism.h"

namespace probe {

// Both of them, for the list of an entry.
std::vector<Parameter> resident_parameters();

// To be made by each process for itself, after it was forked. Throws Failure limit_reached, or where huge pages cannot
// be had.
class Resident {
public:
    explicit Resident(const Plan& plan);
    Resident(const Resident&) = delete;
    Resident& operator=(const Resident&) = delete;
    ~Resident();

    // MiB of huge pages that this process has; nothing where the plan asks for none.
    void add_counts(Counts& counts) const;

private:
    std::uint64_t bytes_;
    bool huge_;
    char* base_ = nullptr;
};

// Before anything is forked: whether there is room for all of them, and pages of that kind. Throws Failure.
void require_resident(const Plan& plan);

// The medium of forked processes, each of which has such memory.
template <class Medium>
class ResidentMedium {
public:
    using Token = typename Medium::Token;
    using Port = typename Medium::Port;

    explicit ResidentMedium(const Plan& plan) : medium_(plan.contexts), plan_(&plan) { require_resident(plan); }

    // The driver's is made when all others have been forked, which would inherit it.
    Port port(std::uint32_t context) {
        if (!own_) own_.emplace(*plan_);
        return medium_.port(context);
    }
    void before_fork(std::uint32_t context) { medium_.before_fork(context); }
    void after_fork(std::uint32_t context) { medium_.after_fork(context); }
    Port in_child(std::uint32_t context) {
        own_.emplace(*plan_);
        return medium_.in_child(context);
    }
    void add_counts(Counts& counts) const {
        if (own_) own_->add_counts(counts);
    }

private:
    Medium medium_;
    const Plan* plan_;  // outlives the workload
    std::optional<Resident> own_;
};

}  // namespace probe
