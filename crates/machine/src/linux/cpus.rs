//! Affinity of the calling thread, and what restricts it.

use super::cgroup::Cgroups;
use super::host::{Host, cause};
use crate::list;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// CPUs that the calling thread may run on, ascending.
pub(crate) fn allowed_cpus() -> Result<Vec<u32>, String> {
    let set = sched_getaffinity(None)
        .map_err(|error| format!("the CPUs of this process cannot be read: {}", cause(&error.into())))?;
    Ok(members(&set))
}

fn members(set: &CpuSet) -> Vec<u32> {
    (0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).map(|cpu| cpu as u32).collect()
}

/// The kernel's form of a list.
pub(crate) fn cpu_set(cpus: &[u32]) -> Result<CpuSet, String> {
    let mut set = CpuSet::new();
    for &cpu in cpus {
        if cpu as usize >= CpuSet::MAX_CPU {
            return Err(format!("CPU numbers go up to {}", CpuSet::MAX_CPU - 1));
        }
        set.set(cpu as usize);
    }
    Ok(set)
}

/// Restricts the calling thread.
pub(crate) fn pin_thread(cpus: &[u32]) -> Result<(), String> {
    let set = cpu_set(cpus)?;
    sched_setaffinity(None, &set).map_err(|error| match error {
        rustix::io::Errno::INVAL => "none of them exists here and is allowed by the cgroup's cpuset".to_owned(),
        error => cause(&error.into()),
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

/// CPUs of the same core, itself included.
pub(crate) fn core_siblings(cpu: u32) -> Vec<u32> {
    let listed = Host::real().read(format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"));
    listed.ok().and_then(|text| list::parse(&text)).unwrap_or_else(|| vec![cpu])
}

/// Why `allowed` is less than `online`; None when it is not.
pub(crate) fn restriction(allowed: &[u32], online: &[u32]) -> Option<String> {
    restriction_on(&Host::real(), allowed, online)
}

/// The same for any machine.
pub(crate) fn restriction_on(host: &Host, allowed: &[u32], online: &[u32]) -> Option<String> {
    let missing: Vec<u32> = online.iter().copied().filter(|cpu| !allowed.contains(cpu)).collect();
    if missing.is_empty() {
        return None;
    }
    let of = format!("CPU {} of {}", list::format(allowed), list::format(online));
    let cpuset = Cgroups::read(host).cpuset(host);
    if cpuset.is_some_and(|cpuset| missing.iter().all(|cpu| !cpuset.contains(cpu))) {
        return Some(format!("the cgroup's cpuset allows only {of} (a container's or service's setting)"));
    }
    let isolated = host.read("/sys/devices/system/cpu/isolated").ok().and_then(|text| list::parse(&text));
    if isolated.is_some_and(|isolated| missing.iter().all(|cpu| isolated.contains(cpu))) {
        return Some(format!("the kernel's isolcpus leaves only {of}"));
    }
    Some(format!("the affinity given to this process (taskset, numactl, a service's CPUAffinity) is only {of}"))
}
