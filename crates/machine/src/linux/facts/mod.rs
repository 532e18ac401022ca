//! The machine's fingerprint: one file per theme.

mod clock;
mod confinement;
mod cpu;
mod drifting;
mod gathered;
mod inherited;
mod kernel;
mod power;
#[cfg(test)]
pub(crate) mod tests;

pub(crate) use confinement::container;
pub(crate) use cpu::{Virtual, hypervisor, translated, virtualisation};
pub(crate) use drifting::Live;
pub(crate) use inherited::{class_and_nice, memory_policy, personality};
pub(crate) use power::{frequency_is_fixed_by_host, turbo};

use super::host::Host;
use gathered::{Facts, joined};
use switchcost_model::Machine;

/// Gathers everything; `live` holds what no file says.
pub(crate) fn gather(host: &Host, live: &Live) -> Machine {
    let (mut stable, mut drifting, mut personal) = (Facts::default(), Facts::default(), Facts::default());
    cpu::gather(host, &mut stable);
    clock::gather(host, &mut stable);
    kernel::gather(host, live, &mut stable);
    power::gather(host, &mut stable);
    confinement::gather(host, &mut stable);
    drifting::gather(host, live, &mut drifting);
    inherited::gather(host, live, &mut drifting);
    for (name, seen) in super::observers::observers(host) {
        drifting.put(name, seen);
    }
    personal.put("host_name", host.fact("/proc/sys/kernel/hostname"));
    Machine { stable: stable.0, drifting: drifting.0, personal: personal.0, findings: Vec::new() }
}
