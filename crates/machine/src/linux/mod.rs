//! Linux.

mod beside;
pub(crate) mod cgroup;
mod claim;
mod core_clock;
pub(crate) mod counters;
pub(crate) mod cpus;
mod doctor;
mod dropped;
pub(crate) mod facts;
mod group;
mod hogs;
pub(crate) mod host;
mod inherited;
#[path = "../unix/interrupt.rs"]
pub(crate) mod interrupt;
pub(crate) mod memory;
pub(crate) mod observers;
mod owner;
pub(crate) mod program;
mod rights;
mod scheduling;
pub(crate) mod spawn;
mod stat;
mod strays;
mod sys;
pub(crate) mod trace;
pub(crate) mod tree;
pub(crate) mod watch;

pub(crate) use claim::{Claim, claim};
pub(crate) use cpus::{allowed_cpus, core_siblings, fast_cpus, isolated_cpus, online_cpus, pin_thread, restriction};

pub(crate) use inherited::forget_inherited;

pub(crate) use scheduling::{inherits_usual, refusal as load_refusal};

pub(crate) use owner::{hand_over, locks, only_owner_writes, root_may_run, root_may_start};

pub(crate) use sys::may_execute_what_it_wrote;

use crate::watch::SoFar;
use switchcost_model::{Finding, Machine};

/// See [`crate::RUNTIME_FOLDERS`].
pub(crate) const RUNTIME_FOLDERS: &[&str] = &["/usr/lib/jvm"];

/// See [`crate::data_home`].
pub(crate) const DATA_HOME: &[&str] = &["XDG_DATA_HOME"];

/// See [`crate::config_home`].
pub(crate) const CONFIG_HOME: &[&str] = &["XDG_CONFIG_HOME"];

/// See [`crate::cache_home`].
pub(crate) const CACHE_HOME: &[&str] = &["XDG_CACHE_HOME"];

/// See the crate.
pub(crate) fn fingerprint() -> Machine {
    facts::gather(&host::Host::real(), &facts::Live::now())
}

/// See the crate.
pub(crate) fn can_observe() -> Result<(), String> {
    let own = std::path::Path::new("/proc/self/task");
    if own.is_dir() { own_ids() } else { Err("/proc is not there, and probes are watched through it; mount it".into()) }
}

/// That `/proc` numbers processes as this one does. By the ids of another PID namespace strangers
/// would be watched, and ended.
///
/// # Errors
/// A clause that says so, and the cure.
pub(crate) fn own_ids() -> Result<(), String> {
    const FOREIGN: &str = "/proc shows the processes of another PID namespace; mount it anew (mount -t proc proc /proc, or unshare with --mount-proc)";
    if host::Host::real().has_own_ids() { Ok(()) } else { Err(FOREIGN.to_owned()) }
}

/// See the crate.
pub(crate) fn doctor(since: SoFar<'_>, machine: &Machine, stored_mhz: Option<f64>) -> Vec<Finding> {
    let host = host::Host::real();
    let sizes = doctor::sizes::Sizes { stored_mhz, ..doctor::sizes::Sizes::estimate(&host, since) };
    doctor::examine(&host, &sizes, &machine.drifting)
}

/// See the crate.
pub(crate) fn look_again(machine: &mut Machine) {
    let host = host::Host::real();
    observers::came(&host, &mut machine.drifting);
    doctor::watched_since(&host, machine);
}
