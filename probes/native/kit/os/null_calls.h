// System calls that do nothing, by which a ruler reads how fast the kernel is.
#pragma once

#if defined(_WIN32)

namespace probe::os {

inline constexpr bool has_null_calls = false;  // none is known to do nothing
inline void null_calls() {}

}  // namespace probe::os

#else

#include <unistd.h>

namespace probe::os {

inline constexpr bool has_null_calls = true;
inline void null_calls() {
    for (int call = 0; call < 4; ++call) getppid();
}

}  // namespace probe::os

#endif
