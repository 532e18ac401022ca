//! Linux.

pub(crate) mod cgroup;
pub(crate) mod cpus;
mod doctor;
pub(crate) mod facts;
pub(crate) mod host;
pub(crate) mod program;
pub(crate) mod spawn;
mod strays;
mod sys;
pub(crate) mod watch;

pub(crate) use cpus::{allowed_cpus, core_siblings, online_cpus, pin_thread, restriction};

use switchcost_model::{Finding, Machine};

/// See the crate.
pub(crate) fn fingerprint() -> Machine {
    facts::gather(&host::Host::real(), &facts::Live::now())
}

/// See the crate.
pub(crate) fn doctor() -> Vec<Finding> {
    let host = host::Host::real();
    let sizes = doctor::sizes::Sizes::estimate(&host);
    doctor::examine(&host, &sizes)
}
