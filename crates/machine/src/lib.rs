//! What the host knows of the machine it runs on, and what it does to it: pinning, starting probes, watching for
//! disturbances.
//!
//! Everything particular to an operating system lies in `linux/`; `other/` answers with reasons, so that the rest of
//! the host compiles and runs on any Unix. All unsafe code of the host is in this crate, in `linux/sys.rs` and in
//! `linux/spawn.rs`.

pub mod cpus;
pub mod program;
pub mod spawn;
pub mod watch;

mod key;

#[cfg(target_os = "linux")]
#[path = "linux/mod.rs"]
mod os;
#[cfg(not(target_os = "linux"))]
#[path = "other/mod.rs"]
mod os;

pub use key::{KEY_FACTS, machine_key};

use switchcost_model::cpu_list as list;
use switchcost_model::{Finding, Machine};

/// The machine's fingerprint. `findings` is empty: [`doctor`] takes most of a second and is asked for separately.
///
/// A fact that cannot be read is there as `unknown: reason`, never missing.
#[must_use]
pub fn fingerprint() -> Machine {
    os::fingerprint()
}

/// Looks at everything that makes numbers on this machine untrustworthy or hard to compare; takes less than a second.
///
/// Call it before [`cpus::pin_self`], which would look like a restriction. Sizes named in `effect` are estimates made on the spot by helper threads of the host; they are never results.
#[must_use]
pub fn doctor() -> Vec<Finding> {
    os::doctor()
}

/// A variable of the host's own environment, if it is set and is text.
#[must_use]
pub fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
