// What the portable part of the kit asks of the operating system. kit/os/linux.cpp, kit/os/macos.cpp and
// kit/os/windows.cpp answer; CMake takes one of them. Where a system has no file of its own for kit/os/limits.h,
// kit/parameters/sched.h, kit/ring/shared.h or kit/experiments/footprint.h, that one answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace probe {

struct TaskId {
    int process;
    int thread;
};

// Pins the calling task and checks that it worked. cpu -1: leaves it to the scheduler. Throws Failure.
void pin_self(int cpu);

namespace os {

struct KernelSwitches {
    std::uint64_t voluntary = 0;
    std::uint64_t involuntary = 0;
    std::uint32_t tasks = 0;
};

struct PageFaults {
    std::uint64_t minor = 0;
    std::uint64_t major = 0;
};

// Before anything is written: a reader that goes away is not a reason to die, bytes go out as they are, the death of a
// partner is reported on `report_fd`.
void begin(int report_fd);

std::string runtime();                // C library and system, for `hello`
std::optional<std::string> caveat();  // what a reader of every figure must know of this system, for a note

TaskId current_task();
int current_thread();  // its number
int current_cpu();
std::optional<PageFaults> faults_of_thread();  // nullopt: not told here, or not thread by thread
std::optional<PageFaults> faults_of_process();

// Sum over the tasks, read while all but the caller are blocked. nullopt: cannot be observed, and
// kernel_switches_unknown() says why.
std::optional<KernelSwitches> kernel_switches(std::span<const TaskId> tasks);
const char* kernel_switches_source();
const char* kernel_switches_unknown();

// CPU time of the tasks since they began, ns. nullopt: not told here, or some task's clock could not be read.
std::optional<std::uint64_t> cpu_time_ns(std::span<const TaskId> tasks);

bool open_for_writing(int fd);
long write_some(int fd, const char* data, std::size_t size);  // bytes written; -1 with errno

// Fresh zeroed pages for one stack; null when refused.
void* map_stack(std::size_t bytes);
void unmap_stack(void* address, std::size_t bytes);

// Gives free memory of the heap back, so that the next contexts do not come from it.
void trim_heap();

// What `kernel` in Memory is here; null where it cannot be known, and the figure is then left out.
const char* kernel_memory_meaning();

}  // namespace os
}  // namespace probe
