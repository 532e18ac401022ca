// Limits of the operating system: raising what may be raised, and naming the one that refused.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kit/plan/failure.h"

namespace probe {

// Soft limits on descriptors and tasks up to the hard ones; no privilege needed.
void raise_soft_limits();

// Whether a system call failed because no descriptor was to be had.
bool is_descriptor_limit(int error);

// Each returns `unsupported limit_reached` with a sentence that names the limit, its value and how to raise it.
Failure task_limit_failure(const char* what, std::uint32_t made, std::uint32_t wanted, int error);

// The same of a thread whose stack has the size that RLIMIT_STACK gives it.
Failure usual_thread_failure(std::uint32_t made, std::uint32_t wanted, int error);
Failure descriptor_limit_failure(std::uint32_t made, std::uint32_t wanted, int error);
Failure memory_limit_failure(std::size_t bytes, int error);

// Throws when touching `bytes` would need more than four fifths of the memory that is free: the kernel's out-of-memory
// killer gives no reason and no cure.
void require_memory(std::uint64_t bytes, const char* cure = "use fewer contexts or smaller stacks");

}  // namespace probe
