//! The machine's fingerprint: one file per theme.

mod clock;
mod confinement;
mod cpu;
mod drifting;
mod kernel;
mod power;
#[cfg(test)]
pub(crate) mod tests;

pub(crate) use confinement::container;
pub(crate) use cpu::{Virtual, capacities, hypervisor, virtualisation};
pub(crate) use drifting::Live;
pub(crate) use power::{frequency_is_fixed_by_host, turbo};

use super::host::Host;
use std::collections::BTreeMap;
use switchcost_model::Machine;

/// Facts that are being gathered.
#[derive(Default)]
pub(crate) struct Facts(BTreeMap<String, String>);

impl Facts {
    /// Adds a fact. A name is used once.
    fn put(&mut self, name: impl Into<String>, value: impl Into<String>) {
        let (name, value) = (name.into(), value.into());
        debug_assert!(!value.is_empty(), "{name} is empty");
        let earlier = self.0.insert(name, value);
        debug_assert!(earlier.is_none(), "a fact was put twice");
    }
}

/// Gathers everything; `live` holds what no file says.
pub(crate) fn gather(host: &Host, live: &Live) -> Machine {
    let (mut stable, mut drifting, mut personal) = (Facts::default(), Facts::default(), Facts::default());
    cpu::gather(host, &mut stable);
    clock::gather(host, &mut stable);
    kernel::gather(host, live, &mut stable);
    power::gather(host, &mut stable);
    confinement::gather(host, &mut stable);
    drifting::gather(host, live, &mut drifting);
    personal.put("host_name", host.fact("/proc/sys/kernel/hostname"));
    Machine { stable: stable.0, drifting: drifting.0, personal: personal.0, findings: Vec::new() }
}

/// Distinct texts as one fact.
fn joined(texts: &[String], missing: &str) -> String {
    if texts.is_empty() { super::host::unknown(missing) } else { texts.join(", ") }
}
