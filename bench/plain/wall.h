// Walls round a task: a filter of system calls of 30 rules on the call's number, Landlock, and one call that is given
// to somebody else. WALL says which: 1 the filter, 2 Landlock, 3 both, 4 a filter that looks at an argument first.
#pragma once
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef WALL
#define WALL 1
#endif

// A match jumps over the rules behind it, of which there are `left` - 1, and over the permission.
#define RULE(call, left) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, left, 0)

static inline int install(struct sock_filter* program, unsigned short length, unsigned flags) {
    struct sock_fprog whole = {length, program};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) exit(1);
    int result = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &whole);
    if (result == -1) exit(1);
    return result;
}

// Files can be read and executed, and nothing be written.
static inline void confine(void) {
    struct landlock_ruleset_attr handled = {.handled_access_fs = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1};
    int rules = (int)syscall(SYS_landlock_create_ruleset, &handled, sizeof handled, 0);
    struct landlock_path_beneath_attr beneath = {
        LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR, open("/", O_PATH)};
    if (syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0) != 0) exit(1);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || syscall(SYS_landlock_restrict_self, rules, 0) != 0) exit(1);
}

static inline void build_wall(void) {
    if (WALL & 2) confine();
    if (WALL == 2) return;
    struct sock_filter program[] = {
#if WALL == 4
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[5])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x5ec0c0de, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO),
#endif
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        RULE(acct, 30),
        RULE(add_key, 29),
        RULE(adjtimex, 28),
        RULE(bpf, 27),
        RULE(chroot, 26),
        RULE(clock_adjtime, 25),
        RULE(clock_settime, 24),
        RULE(delete_module, 23),
        RULE(finit_module, 22),
        RULE(fsconfig, 21),
        RULE(fsmount, 20),
        RULE(fsopen, 19),
        RULE(init_module, 18),
        RULE(kexec_load, 17),
        RULE(keyctl, 16),
        RULE(mount, 15),
        RULE(move_mount, 14),
        RULE(open_tree, 13),
        RULE(personality, 12),
        RULE(pivot_root, 11),
        RULE(quotactl, 10),
        RULE(reboot, 9),
        RULE(request_key, 8),
        RULE(setdomainname, 7),
        RULE(sethostname, 6),
        RULE(settimeofday, 5),
        RULE(swapoff, 4),
        RULE(swapon, 3),
        RULE(umount2, 2),
        RULE(vhangup, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO),
    };
    install(program, sizeof program / sizeof program[0], 0);
}

static inline int give_away(int call, unsigned answer, unsigned flags) {
    struct sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, answer),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    return install(program, sizeof program / sizeof program[0], flags);
}
