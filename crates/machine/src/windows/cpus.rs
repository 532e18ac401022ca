//! Affinity. Of machines with more than 64 CPUs, only the group of CPUs in which the process runs
//! is seen.

use super::sys;
use crate::cause::cause;
use crate::list;
use std::os::windows::io::BorrowedHandle;
use switchcost_model::Severity::Warning;
use switchcost_model::{Finding, finding};

fn members(mask: usize) -> Vec<u32> {
    (0..usize::BITS).filter(|cpu| mask >> cpu & 1 == 1).collect()
}

/// CPUs that this process may run on, ascending.
pub(crate) fn allowed_cpus() -> Result<Vec<u32>, String> {
    let (own, _) = sys::affinity(sys::own_process())
        .map_err(|error| format!("the CPUs of this process cannot be read: {}", cause(&error)))?;
    Ok(members(own))
}

/// CPUs that there are; empty when unknown.
pub(crate) fn online_cpus() -> Vec<u32> {
    sys::affinity(sys::own_process()).map(|(_, all)| members(all)).unwrap_or_default()
}

/// CPUs of the same core, itself included.
pub(crate) fn fast_cpus(cpus: &[u32]) -> Vec<u32> {
    cpus.to_vec()
}

pub(crate) fn isolated_cpus() -> Vec<u32> {
    Vec::new()
}

pub(crate) fn core_siblings(cpu: u32) -> Vec<u32> {
    let cores = sys::cores().into_iter().map(members);
    cores.into_iter().find(|core| core.contains(&cpu)).unwrap_or_else(|| vec![cpu])
}

/// See [`crate::cpus::Claim`]. Hosts do not tell each other here.
#[derive(Debug)]
pub(crate) enum Claim {}

/// See [`crate::cpus::Claim`].
pub(crate) fn claim(_: u32) -> Result<Option<Claim>, ()> {
    Ok(None)
}

/// Why not every CPU may be used.
pub(crate) fn restriction(allowed: &[u32], online: &[u32]) -> Option<String> {
    restricted(allowed, online).map(|finding| finding.text().what)
}

/// The same as `doctor` finds it.
pub(crate) fn restricted(allowed: &[u32], online: &[u32]) -> Option<Finding> {
    let finding = || {
        let (allowed, online) = (list::format(allowed), list::format(online));
        finding!(Warning, affinity.of_process, allowed, online)
    };
    (allowed != online).then(finding)
}

/// Restricts this process. Threads take their place from it, and the host's readers are to stand
/// aside as the host does.
pub(crate) fn pin_thread(cpus: &[u32]) -> Result<(), String> {
    restrict(sys::own_process(), cpus)
}

/// Restricts a process to these CPUs, all of them granted.
pub(crate) fn restrict(process: BorrowedHandle<'_>, cpus: &[u32]) -> Result<(), String> {
    let bit = |&cpu: &u32| 1_usize.checked_shl(cpu).ok_or_else(|| format!("CPU numbers go up to {}", usize::BITS - 1));
    let mask = cpus.iter().map(bit).try_fold(0, |mask, bit| bit.map(|bit| mask | bit))?;
    sys::set_affinity(process, mask).map_err(|_| "not all of them exist here".to_owned())?;
    match sys::affinity(process) {
        Ok((own, _)) if own == mask => Ok(()),
        Ok((own, _)) => Err(format!("the system granted only CPU {}", list::format(&members(own)))),
        Err(error) => Err(cause(&error)),
    }
}
