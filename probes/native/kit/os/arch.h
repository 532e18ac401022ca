// Chooses the file with this architecture's special instructions.
#pragma once

#if defined(__x86_64__)
#include "kit/os/arch_x86_64.h"
#elif defined(__aarch64__)
#include "kit/os/arch_aarch64.h"
#elif defined(__riscv) && __riscv_xlen == 64
#include "kit/os/arch_riscv64.h"
#else
#error "no kit/os/arch_<architecture>.h for this target yet; copy kit/os/arch_x86_64.h and keep the names"
#endif
