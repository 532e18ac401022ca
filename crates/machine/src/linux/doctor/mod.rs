//! What makes numbers on this machine untrustworthy: one file per theme, one list of all checks.

mod check;
mod clock;
mod confinement;
mod counters;
mod idle;
mod inherited;
mod kernel;
mod load;
mod observers;
mod platform;
mod power;
mod rights;
pub(crate) mod sizes;
#[cfg(test)]
mod tests;
mod topology;

use super::host::Host;
use check::{Subject, time, time_us};
use sizes::Sizes;
use std::collections::BTreeMap;
use switchcost_model::Finding;

/// Every check, in the order in which findings are shown.
pub(crate) const CHECKS: &[fn(&Subject<'_>) -> Finding] = &[
    platform::hypervisor,
    platform::wsl,
    platform::container,
    confinement::proc,
    load::steal,
    load::neighbours,
    observers::watching,
    observers::idle_request,
    topology::cpu_count,
    topology::affinity,
    topology::smt,
    topology::unequal_cores,
    idle::waking,
    power::governor,
    power::turbo,
    power::core_clock,
    clock::source,
    clock::step,
    clock::invariant_tsc,
    clock::counters,
    confinement::cpu_quota,
    confinement::cgroup_depth,
    confinement::seccomp,
    kernel::autogroup,
    kernel::mitigations,
    rights::perf_events,
    rights::realtime,
    rights::kvm,
    rights::orphans,
    inherited::handed_on,
    rights::process_limit,
    rights::file_limit,
    rights::session_limits,
];

/// Carries out every check. `drifting`: the facts of the machine that say who watches it.
pub(crate) fn examine(host: &Host, sizes: &Sizes, drifting: &BTreeMap<String, String>) -> Vec<Finding> {
    let subject = Subject { host, sizes, drifting };
    CHECKS.iter().map(|check| check(&subject)).collect()
}

/// Makes anew what an examination found of who watches.
pub(crate) fn watched_since(host: &Host, machine: &mut switchcost_model::Machine) {
    let subject = Subject { host, sizes: &Sizes::default(), drifting: &machine.drifting };
    for now in [observers::watching(&subject), observers::idle_request(&subject)] {
        machine.findings.iter_mut().filter(|finding| finding.id == now.id).for_each(|finding| *finding = now.clone());
    }
}
