//! Affinity of the calling thread, and what restricts it.

use super::cgroup::Cgroups;
use super::host::{Host, cause};
use crate::list;
use std::io;
use switchcost_model::Severity::Note;
use switchcost_model::{Finding, finding};

/// As many CPUs as Linux can have, in words of 64.
const WORDS: usize = 8192 / 64;

/// A set of CPUs as the kernel takes it. The C library's ends at 1,024 CPUs, and a kernel that has
/// room for more does not even answer with so few.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CpuSet([u64; WORDS]);

impl CpuSet {
    /// Of a task of this process; 0: the caller. Async-signal-safe.
    pub(crate) fn of(task: i32) -> io::Result<Self> {
        let mut set = Self([0; WORDS]);
        // SAFETY: the kernel writes at most `size_of::<Self>()` bytes, and the set has as many.
        let answer = unsafe { libc::syscall(libc::SYS_sched_getaffinity, task, size_of::<Self>(), set.0.as_mut_ptr()) };
        if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(set) }
    }

    /// Restricts the calling thread to it. Async-signal-safe.
    pub(crate) fn apply(&self) -> io::Result<()> {
        // SAFETY: the kernel reads `size_of::<Self>()` bytes, and the set has as many.
        let answer = unsafe { libc::syscall(libc::SYS_sched_setaffinity, 0, size_of::<Self>(), self.0.as_ptr()) };
        if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    fn members(&self) -> Vec<u32> {
        let has = |cpu: &u32| self.0.get(*cpu as usize / 64).is_some_and(|word| word >> (cpu % 64) & 1 == 1);
        (0..WORDS as u32 * 64).filter(has).collect()
    }
}

/// CPUs that the calling thread may run on, ascending.
pub(crate) fn allowed_cpus() -> Result<Vec<u32>, String> {
    let set = CpuSet::of(0).map_err(|error| format!("the CPUs of this process cannot be read: {}", cause(&error)))?;
    Ok(set.members())
}

/// The kernel's form of a list.
pub(crate) fn cpu_set(cpus: &[u32]) -> Result<CpuSet, String> {
    let mut set = CpuSet([0; WORDS]);
    for &cpu in cpus {
        let beyond = || format!("CPU numbers go up to {}", WORDS * 64 - 1);
        *set.0.get_mut(cpu as usize / 64).ok_or_else(beyond)? |= 1 << (cpu % 64);
    }
    Ok(set)
}

/// Restricts the calling thread.
pub(crate) fn pin_thread(cpus: &[u32]) -> Result<(), String> {
    let set = cpu_set(cpus)?;
    set.apply().map_err(|error| match error.raw_os_error() {
        Some(libc::EINVAL) => "none of them exists here and is allowed by the cgroup's cpuset".to_owned(),
        _ => cause(&error),
    })?;
    // The kernel takes the part that is allowed and says nothing of the rest.
    match allowed_cpus()? {
        got if got == sorted(cpus) => Ok(()),
        got => Err(format!("the kernel granted only CPU {}", list::format(&got))),
    }
}

fn sorted(cpus: &[u32]) -> Vec<u32> {
    let mut cpus = cpus.to_vec();
    cpus.sort_unstable();
    cpus.dedup();
    cpus
}

/// CPUs that are online; empty when unknown.
pub(crate) fn online_cpus() -> Vec<u32> {
    Host::real().online()
}

/// Those of these CPUs that are of the fastest kind among them.
pub(crate) fn fast_cpus(cpus: &[u32]) -> Vec<u32> {
    fast_cpus_on(&Host::real(), cpus)
}

/// The same for any machine. Cores that differ by less than a tenth are of one kind: firmware names
/// favourites among equals.
pub(crate) fn fast_cpus_on(host: &Host, cpus: &[u32]) -> Vec<u32> {
    let (_, speeds) = speeds(host);
    let of = |cpu: &u32| speeds.iter().find(|(known, _)| known == cpu).map(|(_, speed)| *speed);
    let Some(most) = cpus.iter().filter_map(of).max() else { return cpus.to_vec() };
    cpus.iter().copied().filter(|cpu| of(cpu).is_some_and(|speed| speed * 10 > most * 9)).collect()
}

/// What the kernel says of the speed of its CPUs, by the first of these that tells: Arm and newer
/// x86 kernels give capacities, older ones of hybrid machines lists by kind of core, firmware its
/// highest performance, and cpufreq the highest frequency. The name of what was read, and a number
/// for each CPU.
pub(crate) fn speeds(host: &Host) -> (&'static str, Vec<(u32, u64)>) {
    let online = host.online();
    let each = |file: &str| -> Vec<(u32, u64)> {
        let number = |cpu: &u32| host.number(&format!("/sys/devices/system/cpu/cpu{cpu}/{file}")).ok()?.try_into().ok();
        online.iter().filter_map(|cpu| Some((*cpu, number(cpu)?))).collect()
    };
    let kinds = || -> Vec<(u32, u64)> {
        let kind = |name: &str| host.read(format!("/sys/devices/{name}/cpus")).ok().and_then(|text| list::parse(&text));
        let of = |(name, rank): (&str, u64)| kind(name).unwrap_or_default().into_iter().map(move |cpu| (cpu, rank));
        [("cpu_core", 2), ("cpu_atom", 1), ("cpu_lowpower", 1)].into_iter().flat_map(of).collect()
    };
    let sources = [
        ("capacity", each("cpu_capacity")),
        ("kind of core", kinds()),
        ("highest_perf", each("acpi_cppc/highest_perf")),
    ];
    let sources = sources.into_iter().find(|(_, speeds)| !speeds.is_empty());
    sources.unwrap_or_else(|| ("highest kHz", each("cpufreq/cpuinfo_max_freq")))
}

/// CPUs that the kernel keeps out of every inherited affinity, for who asks for them by number.
pub(crate) fn isolated_cpus() -> Vec<u32> {
    isolated_on(&Host::real())
}

fn isolated_on(host: &Host) -> Vec<u32> {
    host.read("/sys/devices/system/cpu/isolated").ok().and_then(|text| list::parse(&text)).unwrap_or_default()
}

/// CPUs of the same core, itself included.
pub(crate) fn core_siblings(cpu: u32) -> Vec<u32> {
    let listed = Host::real().read(format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"));
    listed.ok().and_then(|text| list::parse(&text)).unwrap_or_else(|| vec![cpu])
}

/// Why `allowed` is less than `online`; None when it is not.
pub(crate) fn restriction(allowed: &[u32], online: &[u32]) -> Option<String> {
    restriction_on(&Host::real(), allowed, online).map(|finding| finding.text().what)
}

/// The same for any machine, as `doctor` finds it.
pub(crate) fn restriction_on(host: &Host, allowed: &[u32], online: &[u32]) -> Option<Finding> {
    let missing: Vec<u32> = online.iter().copied().filter(|cpu| !allowed.contains(cpu)).collect();
    if missing.is_empty() {
        return None;
    }
    let (cpuset, isolated) = (Cgroups::read(host).cpuset(host), isolated_on(host));
    let (allowed, online) = (list::format(allowed), list::format(online));
    if cpuset.is_some_and(|cpuset| missing.iter().all(|cpu| !cpuset.contains(cpu))) {
        return Some(finding!(Note, affinity.cpuset, allowed, online));
    }
    if missing.iter().all(|cpu| isolated.contains(cpu)) {
        return Some(finding!(Note, affinity.isolated, allowed, online));
    }
    Some(finding!(Note, affinity.given, allowed, online))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_room_for_any_machine() {
        let cpus = [0, 63, 64, 1023, 1024, 8191];
        assert_eq!(cpu_set(&cpus).unwrap().members(), cpus);
        assert!(cpu_set(&[8192]).unwrap_err().contains("8191"));
        // What was granted comes back.
        let allowed = allowed_cpus().unwrap();
        pin_thread(&allowed).unwrap();
        assert_eq!(allowed_cpus().unwrap(), allowed);
    }
}
