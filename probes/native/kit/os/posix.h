// What the part of the kit that systems of the Unix kind share (limits.cpp, links.cpp, processes.cpp, tasks.cpp and the
// mechanisms on top of them) asks of the system beside kit/os/os.h. kit/os/linux.cpp and kit/os/macos.cpp answer,
// and where both would say the same, kit/os/posix.cpp.
#pragma once

#include <pthread.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kit/os/os.h"
#include "kit/plan/failure.h"

namespace probe {

inline constexpr std::uint64_t unlimited = ~std::uint64_t{0};

struct Limit {
    std::string name;
    std::uint64_t value;
    std::string cure;
};

// Waits for the end of a child, however often a signal interrupts that; its wait status.
inline int wait_for(pid_t child) {
    int status = 0;
    while (waitpid(child, &status, 0) == -1 && errno == EINTR) {}
    return status;
}

namespace os {

std::string c_library();        // its name, for runtime()
PageFaults faults_of(int who);  // as in getrusage

std::size_t usable_cpus();

// Makes the thread that is created with these attributes begin on `cpu`. Throws Failure.
// pthread_create of a thread that begins on `cpu`, or anywhere where that is negative; gives its error.
int create_thread(pthread_t& thread, pthread_attr_t& attributes, void* (*body)(void*), void* argument, int cpu);

// Why a task could not be placed.
Failure placement_failure(int cpu, int error);

// To be called by a forked child first: it is to die when its parent does, where the system can see to that.
void end_with_parent();

// What may have refused a task, a descriptor or memory, beside the limits of the process itself.
std::vector<Limit> task_limits();
std::uint64_t tasks_of_the_system();  // all that there are, of whomever; unlimited: nobody tells
bool calls_are_filtered();            // some system calls may be refused by a filter of the session
std::vector<Limit> file_limits();
std::vector<Limit> memory_limits(const char* cure);
const char* overcommit_cure();  // goes behind "use fewer contexts or smaller stacks"

// How many descriptors a process may ask for, whatever its hard limit says.
std::uint64_t most_descriptors();

// Small pages always: a huge page would make the footprint and the TLB behaviour a matter of luck.
void use_small_pages(void* address, std::size_t bytes);

// Bytes that makecontext takes a stack for one; below, the context that it makes cannot be entered.
std::size_t least_ucontext_stack();

// A file without a name that programs started by exec inherit; -1 with errno.
int anonymous_file();

std::string path_of_this_program();

}  // namespace os
}  // namespace probe
