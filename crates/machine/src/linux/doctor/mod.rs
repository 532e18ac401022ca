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
    Check { id: "hypervisor", look: platform::hypervisor },
    Check { id: "wsl", look: platform::wsl },
    Check { id: "container", look: platform::container },
    Check { id: "proc", look: confinement::proc },
    Check { id: "steal", look: load::steal },
    Check { id: "neighbours", look: load::neighbours },
    Check { id: "cpu_count", look: topology::cpu_count },
    Check { id: "affinity", look: topology::affinity },
    Check { id: "smt", look: topology::smt },
    Check { id: "unequal_cores", look: topology::unequal_cores },
    Check { id: "idle_wakeup", look: idle::waking },
    Check { id: "governor", look: power::governor },
    Check { id: "turbo", look: power::turbo },
    Check { id: "clock_source", look: clock::source },
    Check { id: "clock_step", look: clock::step },
    Check { id: "invariant_tsc", look: clock::invariant_tsc },
    Check { id: "counters", look: clock::counters },
    Check { id: "cpu_quota", look: confinement::cpu_quota },
    Check { id: "cgroup_depth", look: confinement::cgroup_depth },
    Check { id: "seccomp", look: confinement::seccomp },
    Check { id: "autogroup", look: kernel::autogroup },
    Check { id: "mitigations", look: kernel::mitigations },
    Check { id: "perf_events", look: rights::perf_events },
    Check { id: "realtime", look: rights::realtime },
    Check { id: "kvm", look: rights::kvm },
    Check { id: "orphans", look: rights::orphans },
    Check { id: "inherited", look: inherited::handed_on },
    Check { id: "process_limit", look: rights::process_limit },
    Check { id: "file_limit", look: rights::file_limit },
];

/// Carries out every check.
pub(crate) fn examine(host: &Host, sizes: &Sizes) -> Vec<Finding> {
    let look = Subject { host, sizes };
    let find = |check: &Check| {
        let Answer { severity, what, effect, cure } = (check.look)(&look);
        Finding { id: check.id.to_owned(), severity, what, effect, cure }
    };
    CHECKS.iter().map(find).collect()
}
