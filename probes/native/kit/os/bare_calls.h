// System calls whose cost is measured, without the C library's part in them where the system has a way round it.
#pragma once

#include <csignal>
#include <cstdint>
#include <ctime>

#include <unistd.h>

#if defined(__linux__)
#include <sys/syscall.h>
#endif

namespace probe::bare {

#if defined(__linux__)

inline long parent() { return syscall(SYS_getppid); }

using SignalMask = std::uint64_t;  // the kernel's form: one bit a signal
inline bool set_signal_mask(const SignalMask* mask, SignalMask* old) {
    return syscall(SYS_rt_sigprocmask, SIG_SETMASK, mask, old, sizeof *old) == 0;
}

inline bool sleep_for(const timespec& time) { return clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr) == 0; }

#else  // macOS: the C library's functions are the only interface that is promised, and thin ones

inline long parent() { return getppid(); }

using SignalMask = sigset_t;
inline bool set_signal_mask(const SignalMask* mask, SignalMask* old) {
    return sigprocmask(SIG_SETMASK, mask, old) == 0;
}

inline bool sleep_for(const timespec& time) { return nanosleep(&time, nullptr) == 0; }

#endif

}  // namespace probe::bare
