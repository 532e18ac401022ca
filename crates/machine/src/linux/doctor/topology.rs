//! The CPUs there are.

use super::{Answer, Subject};
use crate::list;
use crate::os::cpus::restriction_on;
use crate::os::facts;

/// CPUs that this process may use.
fn allowed(look: &Subject<'_>) -> Option<Vec<u32>> {
    let online = look.host.online();
    let mut allowed = list::parse(look.host.status().get("Cpus_allowed_list")?)?;
    allowed.retain(|cpu| online.is_empty() || online.contains(cpu));
    Some(allowed)
}

pub(super) fn cpu_count(look: &Subject<'_>) -> Answer {
    match allowed(look).map(|cpus| cpus.len()) {
        Some(1) => Answer::warning(
            "only one CPU may be used",
            "the host shares it with the probes, so that its work counts as theirs, and nothing can be measured across two CPUs",
            "give the machine, container or taskset a second CPU",
        ),
        Some(count) => Answer::fine(format!("{count} CPUs may be used")),
        None => Answer::note(
            "the CPUs of this process cannot be read from /proc/self/status",
            "placements may fail",
            "mount /proc",
        ),
    }
}

pub(super) fn affinity(look: &Subject<'_>) -> Answer {
    let allowed = allowed(look).unwrap_or_default();
    match restriction_on(look.host, &allowed, &look.host.online()) {
        Some(restriction) if !allowed.is_empty() => Answer::note(
            restriction,
            "placements choose among these CPUs only, and those who are kept to the same ones share them",
            "start switchcost without the restriction to use every CPU",
        ),
        _ => Answer::fine("every online CPU may be used"),
    }
}

pub(super) fn smt(look: &Subject<'_>) -> Answer {
    let cores = look.host.each_cpu("topology/thread_siblings_list");
    match cores.iter().filter_map(|core| list::parse(core)).map(|core| core.len()).max() {
        Some(widest) if widest > 1 => Answer::note(
            format!("each core has {widest} hardware threads"),
            "what runs on the sibling of the measured CPU takes a part of its core, which no counter of CPU time shows",
            "keep the siblings idle, or turn them off for a run: echo off | sudo tee /sys/devices/system/cpu/smt/control",
        ),
        Some(_) => Answer::fine("no SMT: each core has one hardware thread"),
        None => Answer::note(
            "which CPUs share a core cannot be read",
            "two contexts on two CPUs may share a core",
            "make /sys readable",
        ),
    }
}

pub(super) fn unequal_cores(look: &Subject<'_>) -> Answer {
    match facts::capacities(look.host) {
        capacities if capacities.len() > 1 => Answer::note(
            format!("cores differ in speed: capacities {} of 1024", capacities.join(", ")),
            "a switch costs more on a small core; the measured CPU is the highest-numbered one, often a small core",
            "choose CPUs of one kind with taskset, and compare like with like",
        ),
        _ => Answer::fine("all cores are of one speed as far as the kernel tells"),
    }
}
