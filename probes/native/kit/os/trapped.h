// What a handler of SIGSYS has of the system call that a filter trapped (SECCOMP_RET_TRAP), in place of which it runs:
// the registers of the call.
#pragma once

#include <ucontext.h>

#include <cstdint>

namespace probe {

#if defined(__x86_64__)
inline std::uint64_t first_argument(const ucontext_t& call) { return call.uc_mcontext.gregs[REG_RDI]; }
inline void return_from_call(ucontext_t& call, std::uint64_t value) {
    call.uc_mcontext.gregs[REG_RAX] = static_cast<greg_t>(value);
}
#elif defined(__aarch64__)
inline std::uint64_t first_argument(const ucontext_t& call) { return call.uc_mcontext.regs[0]; }
inline void return_from_call(ucontext_t& call, std::uint64_t value) { call.uc_mcontext.regs[0] = value; }
#elif defined(__riscv) && __riscv_xlen == 64
inline std::uint64_t first_argument(const ucontext_t& call) { return call.uc_mcontext.__gregs[REG_A0]; }
inline void return_from_call(ucontext_t& call, std::uint64_t value) { call.uc_mcontext.__gregs[REG_A0] = value; }
#else
#error "a trapped system call needs the registers of this architecture"
#endif

}  // namespace probe
