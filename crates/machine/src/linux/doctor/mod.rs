//! What makes numbers on this machine untrustworthy: one file per theme, one list of all checks.

mod check;
mod clock;
mod confinement;
mod counters;
mod idle;
mod inherited;
mod kernel;
mod load;
mod platform;
mod power;
mod rights;
pub(crate) mod sizes;
#[cfg(test)]
mod tests;
mod topology;

use super::host::Host;
use check::{Answer, Check, Subject, about, about_us};
use sizes::Sizes;
use switchcost_model::Finding;

/// Every check, in the order in which findings are shown.
pub(crate) const CHECKS: &[Check] = &[
    Check { id: "hypervisor", find: platform::hypervisor },
    Check { id: "wsl", find: platform::wsl },
    Check { id: "container", find: platform::container },
    Check { id: "proc", find: confinement::proc },
    Check { id: "steal", find: load::steal },
    Check { id: "neighbours", find: load::neighbours },
    Check { id: "cpu_count", find: topology::cpu_count },
    Check { id: "affinity", find: topology::affinity },
    Check { id: "smt", find: topology::smt },
    Check { id: "unequal_cores", find: topology::unequal_cores },
    Check { id: "idle_wakeup", find: idle::waking },
    Check { id: "governor", find: power::governor },
    Check { id: "turbo", find: power::turbo },
    Check { id: "core_clock", find: power::core_clock },
    Check { id: "clock_source", find: clock::source },
    Check { id: "clock_step", find: clock::step },
    Check { id: "invariant_tsc", find: clock::invariant_tsc },
    Check { id: "counters", find: clock::counters },
    Check { id: "cpu_quota", find: confinement::cpu_quota },
    Check { id: "cgroup_depth", find: confinement::cgroup_depth },
    Check { id: "seccomp", find: confinement::seccomp },
    Check { id: "autogroup", find: kernel::autogroup },
    Check { id: "mitigations", find: kernel::mitigations },
    Check { id: "perf_events", find: rights::perf_events },
    Check { id: "realtime", find: rights::realtime },
    Check { id: "kvm", find: rights::kvm },
    Check { id: "orphans", find: rights::orphans },
    Check { id: "inherited", find: inherited::handed_on },
    Check { id: "process_limit", find: rights::process_limit },
    Check { id: "file_limit", find: rights::file_limit },
];

/// Carries out every check.
pub(crate) fn examine(host: &Host, sizes: &Sizes) -> Vec<Finding> {
    let subject = Subject { host, sizes };
    let find = |check: &Check| {
        let Answer { severity, what, effect, cure } = (check.find)(&subject);
        Finding { id: check.id.to_owned(), severity, what, effect, cure }
    };
    CHECKS.iter().map(find).collect()
}
