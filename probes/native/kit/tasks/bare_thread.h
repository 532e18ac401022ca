// A thread made by the system call alone, on a stack that is already there, without the C library's knowledge
// (thread/pthread by=clone). What it runs shares the driver's thread-local storage, because nobody made one for it: it
// may touch nothing but its argument.
#pragma once

#include <atomic>
#include <cstdint>

#include "kit/ring/shared.h"

namespace probe {

class BareThreads {
public:
    BareThreads();  // may throw Failure

    // Makes one, waits until it has ended and gives its number. Throws Failure.
    int run_one(int (*body)(void*), void* argument);

private:
    SharedArray<char> stack_;
    std::atomic<std::uint32_t> id_{0};
};

}  // namespace probe
