//! Systems that nobody has written yet: everything compiles and says why it does not work.

pub(crate) mod program;
pub(crate) mod spawn;
pub(crate) mod watch;

use switchcost_model::{Finding, Machine, Severity};

/// Why.
const UNSUPPORTED: &str =
    "switchcost measures on Linux only so far; this system's part of crates/machine is not written";

/// See the crate.
pub(crate) fn fingerprint() -> Machine {
    let mut machine = Machine::default();
    let unknown = || format!("unknown: {UNSUPPORTED}");
    for fact in crate::KEY_FACTS {
        machine.stable.insert(fact.trim_end_matches('.').to_owned(), unknown());
    }
    machine.stable.insert("kernel.architecture".to_owned(), std::env::consts::ARCH.to_owned());
    machine.stable.insert("kernel.release".to_owned(), std::env::consts::OS.to_owned());
    machine.personal.insert("host_name".to_owned(), unknown());
    machine
}

/// See the crate.
pub(crate) fn doctor() -> Vec<Finding> {
    vec![Finding {
        id: "system".to_owned(),
        severity: Severity::Warning,
        what: UNSUPPORTED.to_owned(),
        effect: "nothing can be measured".to_owned(),
        cure: "use Linux".to_owned(),
    }]
}

/// See [`crate::cpus`].
pub(crate) fn allowed_cpus() -> Result<Vec<u32>, String> {
    Err(UNSUPPORTED.to_owned())
}

/// See [`crate::cpus`].
pub(crate) fn online_cpus() -> Vec<u32> {
    Vec::new()
}

/// See [`crate::cpus`].
pub(crate) fn core_siblings(cpu: u32) -> Vec<u32> {
    vec![cpu]
}

/// See [`crate::cpus`].
pub(crate) fn restriction(_allowed: &[u32], _online: &[u32]) -> Option<String> {
    None
}

/// See [`crate::cpus`].
pub(crate) fn pin_thread(_cpus: &[u32]) -> Result<(), String> {
    Err(UNSUPPORTED.to_owned())
}
