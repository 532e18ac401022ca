//! Capabilities of Linux: rights of root, one by one.

use std::fmt;
use std::str::FromStr;

/// By number, as `linux/capability.h` has them, without `CAP_`. A kernel may know fewer, or more.
const NAMES: [&str; 41] = [
    "chown",
    "dac_override",
    "dac_read_search",
    "fowner",
    "fsetid",
    "kill",
    "setgid",
    "setuid",
    "setpcap",
    "linux_immutable",
    "net_bind_service",
    "net_broadcast",
    "net_admin",
    "net_raw",
    "ipc_lock",
    "ipc_owner",
    "sys_module",
    "sys_rawio",
    "sys_chroot",
    "sys_ptrace",
    "sys_pacct",
    "sys_admin",
    "sys_boot",
    "sys_nice",
    "sys_resource",
    "sys_time",
    "sys_tty_config",
    "mknod",
    "lease",
    "audit_write",
    "audit_control",
    "setfcap",
    "mac_override",
    "mac_admin",
    "syslog",
    "wake_alarm",
    "block_suspend",
    "audit_read",
    "perfmon",
    "bpf",
    "checkpoint_restore",
];

/// Capabilities that a program keeps where it would have them: bit N is number N. The default is
/// none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Capabilities(u64);

impl Capabilities {
    /// Whatever the host has, of a kernel that knows more than [`NAMES`] as well: for programs that
    /// are the user's own.
    pub const ALL: Self = Self(u64::MAX);

    /// Those of either.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The one with this number is among them.
    #[must_use]
    pub fn keeps(self, number: u32) -> bool {
        1_u64.checked_shl(number).is_some_and(|bit| self.0 & bit != 0)
    }

    /// As the kernel takes a set: bit N is number N.
    #[must_use]
    pub fn bits(self) -> u64 {
        self.0
    }
}

impl FromIterator<Self> for Capabilities {
    fn from_iter<I: IntoIterator<Item = Self>>(all: I) -> Self {
        all.into_iter().fold(Self::default(), Self::and)
    }
}

impl FromStr for Capabilities {
    type Err = String;

    /// One, by its name in lower case without `cap_`.
    fn from_str(name: &str) -> Result<Self, String> {
        let number = NAMES.iter().position(|known| *known == name);
        let known = || format!("there is no capability `{name}`; capabilities(7) has them, written as in sys_nice");
        number.map(|number| Self(1 << number)).ok_or_else(known)
    }
}

impl fmt::Display for Capabilities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kept = (0_u32..).zip(NAMES).filter(|(number, _)| self.keeps(*number)).map(|(_, name)| name);
        f.write_str(&kept.collect::<Vec<_>>().join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_bit_and_back() {
        assert!(NAMES.iter().all(|name| name.parse::<Capabilities>().unwrap().to_string() == *name));
        // linux/capability.h: CAP_SYS_ADMIN 21, CAP_CHECKPOINT_RESTORE 40.
        assert_eq!("sys_admin".parse::<Capabilities>().unwrap().bits(), 1 << 21);
        assert_eq!("checkpoint_restore".parse::<Capabilities>().unwrap().bits(), 1 << 40);
        assert!("cap_sys_admin".parse::<Capabilities>().is_err());
        assert!(!Capabilities::default().keeps(0) && Capabilities::ALL.keeps(63) && !Capabilities::ALL.keeps(64));
    }
}
