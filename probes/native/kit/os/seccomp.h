// Filters of system calls.
#pragma once

#include <linux/filter.h>
#include <sys/syscall.h>

#include <array>
#include <span>
#include <vector>

namespace probe {

// Few calls that no container should make; like the default filters of container runtimes a list of numbers that is
// passed at every system call, only shorter.
inline constexpr std::array<unsigned, 12> calls_no_container_makes = {
    SYS_acct,   SYS_add_key, SYS_delete_module, SYS_finit_module, SYS_init_module, SYS_kexec_load,
    SYS_keyctl, SYS_reboot,  SYS_request_key,   SYS_settimeofday, SYS_swapoff,     SYS_swapon,
};

// A filter that kills on calls of other architectures, gives one call's caller `answer`, refuses others with EPERM and
// allows the rest.
struct SeccompFilter {
    std::span<const unsigned> refused;
    // Looks at an argument of each call first, so that the kernel cannot remember the answer by the call's number.
    bool looks_at_argument = false;
    int answered = -1;  // number of the call, where there is one
    unsigned answer = 0;

    std::vector<sock_filter> program() const;
};

// Both stay for the life of the process. False: errno says why.
bool install_seccomp_filter(const SeccompFilter& filter);
inline bool install_seccomp_filter(std::span<const unsigned> refused) {
    return install_seccomp_filter(SeccompFilter{refused});
}

// The same; the descriptor by which another process hears of calls that are answered by SECCOMP_RET_USER_NOTIF, or -1.
int install_seccomp_listener(const SeccompFilter& filter);

}  // namespace probe
