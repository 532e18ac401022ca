#include "kit/containers/seccomp.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>

namespace probe {
namespace {

#if defined(__x86_64__)
constexpr unsigned native_architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr unsigned native_architecture = AUDIT_ARCH_AARCH64;
#else
#error "the seccomp filter needs the AUDIT_ARCH_* of this architecture"
#endif

constexpr std::array<unsigned, 12> refused_calls = {
    SYS_acct,   SYS_add_key, SYS_delete_module, SYS_finit_module, SYS_init_module, SYS_kexec_load,
    SYS_keyctl, SYS_reboot,  SYS_request_key,   SYS_settimeofday, SYS_swapoff,     SYS_swapon,
};

constexpr sock_filter statement(unsigned code, unsigned operand) {
    return {static_cast<unsigned short>(code), 0, 0, operand};
}
constexpr sock_filter jump(unsigned code, unsigned operand, std::size_t if_true, std::size_t if_false) {
    return {static_cast<unsigned short>(code), static_cast<unsigned char>(if_true),
            static_cast<unsigned char>(if_false), operand};
}

}  // namespace

bool install_seccomp_filter() {
    constexpr std::size_t calls = refused_calls.size();
    std::array<sock_filter, calls + 6> program = {};
    std::size_t at = 0;
    program[at++] = statement(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch));
    program[at++] = jump(BPF_JMP | BPF_JEQ | BPF_K, native_architecture, 1, 0);
    program[at++] = statement(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    program[at++] = statement(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr));
    // A match jumps over the rest of the list and over the permission.
    for (std::size_t i = 0; i < calls; ++i)
        program[at++] = jump(BPF_JMP | BPF_JEQ | BPF_K, refused_calls[i], calls - i, 0);
    program[at++] = statement(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    program[at++] = statement(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
    const sock_fprog filter = {static_cast<unsigned short>(at), program.data()};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

}  // namespace probe
