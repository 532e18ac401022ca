//! The machine's key.

use crate::Machine;
use std::collections::BTreeMap;

/// Stable facts that make the key: those that change the cost of a switch and that every user of the machine reads
/// alike. A name that ends in a dot stands for every fact below it.
///
/// Left out on purpose: `cpu.model_name` (repeats family, model and stepping; hypervisors rewrite it), memory size
/// (a balloon changes it), `kernel.preempt_mode` and `kernel.lsm` (only root may read them on many machines, so root
/// and user would get different keys), `clock.available` and `kernel.version` (build stamp), everything drifting.
pub const KEY_FACTS: &[&str] = &[
    "cache.",
    "cgroup.cpu_depth",
    "cgroup.cpu_quota",
    "cgroup.version",
    "clock.source",
    "clock.tsc_flags",
    "clock.tsc_hz",
    "container",
    "cpu.cores",
    "cpu.family",
    "cpu.logical",
    "cpu.microcode",
    "cpu.model",
    "cpu.smt",
    "cpu.sockets",
    "cpu.stepping",
    "cpu.vendor",
    "cpufreq.",
    "cpuidle.",
    "hypervisor",
    "kernel.architecture",
    "kernel.autogroup",
    "kernel.hz",
    "kernel.page_size",
    "kernel.preempt",
    "kernel.release",
    "kernel.thp",
    "libc",
    "mitigations",
    "security.seccomp",
    "vulnerability.",
];

/// Sixteen hexadecimal digits; equal exactly when the facts of [`KEY_FACTS`] are equal (up to chance collisions of a
/// 64-bit FNV-1a hash, which is enough for telling machines apart and not meant against forgery).
#[must_use]
pub fn machine_key(stable: &BTreeMap<String, String>) -> String {
    let counts = |name: &str| {
        KEY_FACTS.iter().any(|fact| if fact.ends_with('.') { name.starts_with(fact) } else { name == *fact })
    };
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for (name, value) in stable.iter().filter(|(name, _)| counts(name)) {
        for byte in name.bytes().chain([b'=']).chain(value.bytes()).chain([b'\n']) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    format!("{hash:016x}")
}

impl Machine {
    /// [`machine_key`] of its stable facts.
    #[must_use]
    pub fn key(&self) -> String {
        machine_key(&self.stable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(facts: &[(&str, &str)]) -> Machine {
        let stable = facts.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Machine { stable, ..Machine::default() }
    }

    #[test]
    fn only_what_matters_changes_the_key() {
        let base = machine(&[("cpu.model", "207"), ("cache.l2", "2048K"), ("cpu.model_name", "Xeon")]);
        let renamed = machine(&[("cpu.model", "207"), ("cache.l2", "2048K"), ("cpu.model_name", "Other")]);
        let smaller = machine(&[("cpu.model", "207"), ("cache.l2", "1024K"), ("cpu.model_name", "Xeon")]);
        assert_eq!(base.key(), renamed.key());
        assert_ne!(base.key(), smaller.key());
        let mut drifted = base.clone();
        drifted.drifting.insert("load.average".to_owned(), "7".to_owned());
        drifted.personal.insert("host_name".to_owned(), "x".to_owned());
        assert_eq!(base.key(), drifted.key());
    }

    #[test]
    fn the_key_is_pinned_for_ever() {
        // Stored runs are found by it: a change of the hash would part a machine from its own history.
        assert_eq!(Machine::default().key(), "cbf29ce484222325");
        assert_eq!(machine(&[("hypervisor", "none")]).key(), machine(&[("hypervisor", "none")]).key());
    }
}
