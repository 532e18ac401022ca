// Containers made by the OCI runtime that this probe is named after (OCI_RUNTIME, by the build).
#pragma once

#include <memory>

#include "kit/plan/mechanism.h"
#include "runtime_program.h"

namespace probe {

// A Creator of kit/experiments/creation.h: the runtime makes a container, whose first process counts itself and ends,
// and removes it.
class OciCreator {
public:
    explicit OciCreator(const Plan& plan);
    ~OciCreator();

    std::uint64_t run_one(std::uint64_t token, std::uint64_t* entered);
    std::uint64_t* counter();
    void add_counts(Counts& counts) const;

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace probe
