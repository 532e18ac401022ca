// What processes hold, by the kernel's figures.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>

#include "kit/plan/mechanism.h"

namespace probe {

// This process: resident from smaps_rollup (a walk of the page tables; statm is only approximate), address space from
// statm, page tables (VmPTE) as the kernel's share. Throws Failure.
Memory own_memory();

// What process `id` holds alone: its private pages and its address space. The kernel's share is not known per process.
Memory private_memory(int id);

// What the processes hold alone, and what the kernel has more of than `kernel_before`.
MemoryGain gain_of(std::span<const pid_t> processes, std::int64_t kernel_before);

// Kernel stacks, page tables and unreclaimable slab of the whole machine: other work shows in it.
std::int64_t kernel_memory_of_machine();

// The same, once the kernel has done with what ended before: it frees tasks and takes namespaces apart some time after
// their end, which would be counted as a loss of the next contexts. Waits until it frees no more than other work does,
// a second at most.
std::int64_t settled_kernel_memory_of_machine();

}  // namespace probe
