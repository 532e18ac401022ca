//! The machine's keys: of its hardware, of its software, and of both.

use crate::Machine;
use std::collections::BTreeMap;

/// Facts of the hardware, or of what a hypervisor gives for it: no update changes them. Their key
/// names a machine. A name that ends in a dot stands for every fact below it.
///
/// Left out on purpose: `cpu.model_name` (repeats family, model and stepping; hypervisors rewrite
/// it), memory size (a balloon changes it, and a kernel counts it after what it keeps for itself).
pub const HARDWARE_FACTS: &[&str] = &[
    "cache.",
    "clock.tsc_hz",
    "cpu.cores",
    "cpu.family",
    "cpu.logical",
    "cpu.model",
    "cpu.sockets",
    "cpu.stepping",
    "cpu.vendor",
    "hypervisor",
    "kernel.architecture",
];

/// Facts of software and settings that change the cost of a switch and that every user of the
/// machine reads alike.
///
/// Left out on purpose: `kernel.preempt_mode`, `kernel.lsm` and `cpuidle.dma_latency_us` (only root
/// may read them on many machines, so root and user would get different keys), `clock.available`
/// and `kernel.version` (build stamp), everything drifting.
pub const SOFTWARE_FACTS: &[&str] = &[
    "cgroup.cpu_depth",
    "cgroup.cpu_quota",
    "cgroup.version",
    "clock.source",
    "clock.tsc_flags",
    "container",
    "cpu.microcode",
    "cpu.smt",
    "cpufreq.",
    "cpuidle.driver",
    "cpuidle.governor",
    "cpuidle.halt_poll_ns",
    "cpuidle.states",
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

/// How a fact begins that could not be read; its reason follows.
const UNKNOWN: &str = "unknown: ";

/// A fact that could not be read.
#[must_use]
pub fn unknown(reason: impl AsRef<str>) -> String {
    format!("{UNKNOWN}{}", reason.as_ref())
}

/// This fact was read.
#[must_use]
pub fn is_known(fact: &str) -> bool {
    !fact.starts_with(UNKNOWN)
}

/// The fact is one of the list.
#[must_use]
pub fn counts(facts: &[&str], name: &str) -> bool {
    facts.iter().any(|fact| if fact.ends_with('.') { name.starts_with(fact) } else { name == *fact })
}

/// Sixteen hexadecimal digits; equal exactly when the counted facts are equal (up to chance
/// collisions of a 64-bit FNV-1a hash, which is enough for telling machines apart and not meant
/// against forgery).
fn key(stable: &BTreeMap<String, String>, counted: impl Fn(&str) -> bool) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for (name, value) in stable.iter().filter(|(name, _)| counted(name)) {
        for byte in name.bytes().chain([b'=']).chain(value.bytes()).chain([b'\n']) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    format!("{hash:016x}")
}

/// Equal for the same hardware with the same software: what stored costs may be used on.
#[must_use]
pub fn machine_key(stable: &BTreeMap<String, String>) -> String {
    key(stable, |name| counts(HARDWARE_FACTS, name) || counts(SOFTWARE_FACTS, name))
}

/// Equal for the same hardware, whatever runs on it: what a history is of.
#[must_use]
pub fn hardware_key(stable: &BTreeMap<String, String>) -> String {
    key(stable, |name| counts(HARDWARE_FACTS, name))
}

/// Equal for the same software and settings.
#[must_use]
pub fn software_key(stable: &BTreeMap<String, String>) -> String {
    key(stable, |name| counts(SOFTWARE_FACTS, name))
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
        // Stored runs are found by it: a change of the hash would part a machine from its own
        // history.
        assert_eq!(Machine::default().key(), "cbf29ce484222325");
        let facts =
            [("cpu.model", "207"), ("kernel.release", "6.1"), ("libc", "glibc 2.36"), ("topology.cores", "0 1")];
        let stable = machine(&facts).stable;
        let keys = [machine_key(&stable), hardware_key(&stable), software_key(&stable)];
        assert_eq!(keys, ["febb493ae41b81d5", "f3baad398d7f7656", "1ef089d010aeb668"]);
    }

    /// An update is another set-up of the same machine.
    #[test]
    fn every_fact_is_of_hardware_or_software() {
        let base =
            machine(&[("cpu.model", "207"), ("cache.l2", "2048K"), ("kernel.release", "6.1"), ("kernel.lsm", "")])
                .stable;
        for (name, hardware, software) in [
            ("cpu.model", true, false),
            ("cache.l2", true, false),
            ("kernel.release", false, true),
            ("kernel.lsm", false, false),
        ] {
            let mut other = base.clone();
            other.insert(name.to_owned(), "other".to_owned());
            assert_eq!(hardware_key(&other) != hardware_key(&base), hardware, "{name}");
            assert_eq!(software_key(&other) != software_key(&base), software, "{name}");
            assert_eq!(machine_key(&other) != machine_key(&base), hardware || software, "{name}");
        }
    }
}
