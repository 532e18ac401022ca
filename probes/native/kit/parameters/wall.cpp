#include "kit/parameters/wall.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "kit/os/descriptor.h"
#include "kit/os/seccomp.h"
#include "kit/plan/failure.h"

namespace probe {
namespace {

// As many as a service's filter has (systemd's SystemCallFilter), none of which a probe makes.
constexpr std::array<unsigned, 30> calls_no_service_makes = {
    SYS_acct,          SYS_add_key,       SYS_adjtimex,     SYS_bpf,      SYS_chroot,      SYS_clock_adjtime,
    SYS_clock_settime, SYS_delete_module, SYS_finit_module, SYS_fsconfig, SYS_fsmount,     SYS_fsopen,
    SYS_init_module,   SYS_kexec_load,    SYS_keyctl,       SYS_mount,    SYS_move_mount,  SYS_open_tree,
    SYS_personality,   SYS_pivot_root,    SYS_quotactl,     SYS_reboot,   SYS_request_key, SYS_setdomainname,
    SYS_sethostname,   SYS_settimeofday,  SYS_swapoff,      SYS_swapon,   SYS_umount2,     SYS_vhangup,
};

// The files of the system can be read and executed, as the probe's own evidence needs, and nothing be written.
bool confine_to_reading() {
    landlock_ruleset_attr handled{};
    handled.handled_access_fs = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1;  // those of its first version
    const Descriptor rules(static_cast<int>(syscall(SYS_landlock_create_ruleset, &handled, sizeof handled, 0)));
    const Descriptor top(open("/", O_PATH | O_CLOEXEC));
    if (!rules.is_open() || !top.is_open()) return false;
    landlock_path_beneath_attr beneath{};
    beneath.allowed_access = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
    beneath.parent_fd = top.get();
    return syscall(SYS_landlock_add_rule, rules.get(), LANDLOCK_RULE_PATH_BENEATH, &beneath, 0) == 0 &&
           prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && syscall(SYS_landlock_restrict_self, rules.get(), 0) == 0;
}

bool has_landlock(const Plan& plan) { return plan.text("wall") == "landlock" || plan.text("wall") == "both"; }

Failure refusal(const char* what, const char* cure) {
    const int error = errno;
    return unsupported(error == EPERM ? "no_permission" : "unsupported_here",
                       std::string(what) + " was refused (" + std::strerror(error) + "); " + cure, error);
}

}  // namespace

void build_wall(const Plan& plan) {
    const std::string& wall = plan.text("wall");
    if (has_landlock(plan) && !confine_to_reading())
        throw refusal("Landlock", "it takes Linux 5.13 or later and landlock among the kernel's lsm=");
    if (wall == "none" || wall == "landlock") return;
    if (!install_seccomp_filter(SeccompFilter{calls_no_service_makes, wall == "arguments"}))
        throw refusal("a seccomp filter", "it takes CONFIG_SECCOMP_FILTER, and a session whose own filter allows it");
}

std::int64_t files_refused(const Plan& plan) {
    if (!has_landlock(plan)) return 0;
    std::int64_t refused = 0;
    for (const char* folder : {"/tmp", "/dev/shm"})
        refused += open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600) == -1 && errno == EACCES;
    return refused;
}

}  // namespace probe
