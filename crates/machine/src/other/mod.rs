//! Systems that nobody has written yet: everything compiles and says why it does not work.

pub(crate) mod counters;
#[path = "../unix/interrupt.rs"]
pub(crate) mod interrupt;
pub(crate) mod program;
pub(crate) mod spawn;
#[path = "../trace/none.rs"]
pub(crate) mod trace;
pub(crate) mod watch;
mod without;

pub(crate) use without::{
    forget_inherited, hand_over, inherits_usual, load_refusal, locks, root_may_run, root_may_start,
};

use crate::watch::SoFar;
use switchcost_model::{Finding, Machine, Severity, finding};

/// See [`crate::RUNTIME_FOLDERS`].
pub(crate) const RUNTIME_FOLDERS: &[&str] = &[];

/// See [`crate::data_home`].
pub(crate) const DATA_HOME: &[&str] = &["XDG_DATA_HOME"];

/// See [`crate::config_home`].
pub(crate) const CONFIG_HOME: &[&str] = &["XDG_CONFIG_HOME"];

/// See [`crate::cache_home`].
pub(crate) const CACHE_HOME: &[&str] = &["XDG_CACHE_HOME"];

/// Why.
const UNSUPPORTED: &str =
    "switchcost measures on Linux and Windows only so far; this system's part of crates/machine is not written";

/// Why no program is watched.
const UNWATCHED: &str = UNSUPPORTED;

/// See [`crate::only_owner_writes`]. Nothing is measured here, and so no probe is trusted.
pub(crate) fn only_owner_writes(_: &std::path::Path) -> Result<(), String> {
    Err(UNSUPPORTED.to_owned())
}

/// See the crate.
pub(crate) fn fingerprint() -> Machine {
    crate::cause::unknown_machine(UNSUPPORTED)
}

/// See the crate: what cannot be seen here is told row by row.
#[expect(clippy::unnecessary_wraps, reason = "one signature for all systems")]
pub(crate) fn can_observe() -> Result<(), String> {
    Ok(())
}

/// See the crate.
pub(crate) fn look_again(_: &mut Machine) {}

/// See the crate.
pub(crate) fn doctor(_: SoFar<'_>, _: &Machine, _: Option<f64>) -> Vec<Finding> {
    vec![finding!(Severity::Warning, system.other)]
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
pub(crate) fn fast_cpus(cpus: &[u32]) -> Vec<u32> {
    cpus.to_vec()
}

pub(crate) fn isolated_cpus() -> Vec<u32> {
    Vec::new()
}

pub(crate) fn core_siblings(cpu: u32) -> Vec<u32> {
    vec![cpu]
}

/// See [`crate::cpus::Claim`]. Hosts do not tell each other here.
#[derive(Debug)]
pub(crate) enum Claim {}

/// See [`crate::cpus::Claim`].
pub(crate) fn claim(_: u32) -> Result<Option<Claim>, ()> {
    Ok(None)
}

/// See [`crate::cpus`].
pub(crate) fn restriction(_allowed: &[u32], _online: &[u32]) -> Option<String> {
    None
}

/// See [`crate::cpus`].
pub(crate) fn pin_thread(_cpus: &[u32]) -> Result<(), String> {
    Err(UNSUPPORTED.to_owned())
}

/// See [`crate::surroundings`].
pub(crate) fn may_execute_what_it_wrote() -> bool {
    true
}
