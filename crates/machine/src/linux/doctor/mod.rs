//! What makes numbers on this machine untrustworthy: one file per theme, one list of all checks.

mod clock;
mod confinement;
mod counters;
mod idle;
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
use sizes::Sizes;
use switchcost_model::{Finding, Severity};

/// What a check may look at.
pub(crate) struct Subject<'a> {
    host: &'a Host,
    sizes: &'a Sizes,
}

/// One thing to look at.
pub(crate) struct Check {
    id: &'static str,
    look: fn(&Subject<'_>) -> Answer,
}

/// What a check says.
pub(crate) struct Answer {
    severity: Severity,
    what: String,
    effect: String,
    cure: String,
}

impl Answer {
    fn fine(what: impl Into<String>) -> Self {
        Self { severity: Severity::Fine, what: what.into(), effect: String::new(), cure: String::new() }
    }

    fn note(what: impl Into<String>, effect: impl Into<String>, cure: impl Into<String>) -> Self {
        Self { severity: Severity::Note, what: what.into(), effect: effect.into(), cure: cure.into() }
    }

    fn warning(what: impl Into<String>, effect: impl Into<String>, cure: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, what: what.into(), effect: effect.into(), cure: cure.into() }
    }
}

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
    Check { id: "idle_wakeup", look: idle::wakeup },
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

/// A size in words, or that it is not known.
fn about(size: Option<f64>, unit: &str) -> String {
    match size {
        Some(size) if size >= 100.0 => format!("about {size:.0} {unit}"),
        Some(size) if size >= 1.0 => format!("about {size:.1} {unit}"),
        Some(size) => format!("about {size:.2} {unit}"),
        None => format!("an unknown number of {unit}"),
    }
}
