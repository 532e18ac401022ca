#include "kit/os/seccomp.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

namespace probe {
namespace {

#if defined(__x86_64__)
constexpr unsigned native_architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr unsigned native_architecture = AUDIT_ARCH_AARCH64;
#elif defined(__riscv) && __riscv_xlen == 64
constexpr unsigned native_architecture = AUDIT_ARCH_RISCV64;
#else
#error "the seccomp filter needs the AUDIT_ARCH_* of this architecture"
#endif

constexpr sock_filter statement(unsigned code, unsigned operand) {
    return {static_cast<unsigned short>(code), 0, 0, operand};
}
constexpr sock_filter jump(unsigned code, unsigned operand, std::size_t if_true, std::size_t if_false) {
    return {static_cast<unsigned short>(code), static_cast<unsigned char>(if_true),
            static_cast<unsigned char>(if_false), operand};
}

int install(const SeccompFilter& filter, unsigned flags) {
    std::vector<sock_filter> program = filter.program();
    const sock_fprog whole = {static_cast<unsigned short>(program.size()), program.data()};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
    return static_cast<int>(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &whole));
}

}  // namespace

std::vector<sock_filter> SeccompFilter::program() const {
    std::vector<sock_filter> program;
    if (looks_at_argument) {
        program.push_back(statement(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[5])));
        program.push_back(jump(BPF_JMP | BPF_JEQ | BPF_K, 0x5ec0c0de, 0, 1));
        program.push_back(statement(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
    }
    program.push_back(statement(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)));
    program.push_back(jump(BPF_JMP | BPF_JEQ | BPF_K, native_architecture, 1, 0));
    program.push_back(statement(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
    program.push_back(statement(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)));
    if (answered != -1) {
        program.push_back(jump(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(answered), 0, 1));
        program.push_back(statement(BPF_RET | BPF_K, answer));
    }
    // A match jumps over the rest of the list and over the permission.
    for (std::size_t i = 0; i < refused.size(); ++i)
        program.push_back(jump(BPF_JMP | BPF_JEQ | BPF_K, refused[i], refused.size() - i, 0));
    program.push_back(statement(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    program.push_back(statement(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
    return program;
}

bool install_seccomp_filter(const SeccompFilter& filter) { return install(filter, 0) != -1; }

int install_seccomp_listener(const SeccompFilter& filter) { return install(filter, SECCOMP_FILTER_FLAG_NEW_LISTENER); }

}  // namespace probe
