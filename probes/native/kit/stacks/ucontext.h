// makecontext and its kin, where the C library has them: musl has not, and CMake asks (PROBE_HAS_UCONTEXT).
#pragma once

#include "kit/os/posix.h"
#include "kit/plan/failure.h"
#include "kit/plan/mechanism.h"

#include "kit/stacks/stacks.h"

#if PROBE_HAS_UCONTEXT
#include <ucontext.h>
#endif

namespace probe {

#if PROBE_HAS_UCONTEXT
// What makecontext asks for beside the function.
inline void prepare_context(ucontext_t& context, Stack stack, ucontext_t* link) {
    getcontext(&context);
    context.uc_stack.ss_sp = stack.bottom;
    context.uc_stack.ss_size = stack.size();
    context.uc_link = link;
}
#endif

inline Unavailable ucontext_missing() {
    return {"missing_library", "the C library that this probe was built with has no makecontext",
            "a probe built with glibc"};
}

// A stack too small for makecontext makes a context that cannot be entered, and nobody says so.
inline void require_ucontext_stack(const Plan& plan) {
    const std::size_t least = os::least_ucontext_stack();
    if (plan.number("stack_size") >= least) return;
    throw unsupported("limit_reached", "makecontext takes no stack below " + std::to_string(least) +
                                           " bytes here; give stack_size=" + std::to_string(least));
}

}  // namespace probe
