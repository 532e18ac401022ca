//! The CPUs there are.

use super::{Answer, Subject};
use crate::list;
use crate::os::cpus::{fast_cpus_on, restriction_on, speeds};

/// CPUs that this process may use.
fn allowed(subject: &Subject<'_>) -> Option<Vec<u32>> {
    let online = subject.host.online();
    let mut allowed = list::parse(subject.host.status().get("Cpus_allowed_list")?)?;
    allowed.retain(|cpu| online.is_empty() || online.contains(cpu));
    Some(allowed)
}

pub(super) fn cpu_count(subject: &Subject<'_>) -> Answer {
    match allowed(subject).map(|cpus| cpus.len()) {
        Some(1) => Answer::warning(
            "only one CPU may be used",
            "the host shares it with the probes, so that its work counts as theirs, and nothing can be measured across two CPUs",
            "give the machine, container or taskset a second CPU",
        ),
        Some(count) => Answer::fine(format!("{count} CPUs may be used")),
        None => Answer::warning(
            "the CPUs of this process cannot be read from /proc/self/status",
            "placements may fail",
            "mount /proc",
        ),
    }
}

pub(super) fn affinity(subject: &Subject<'_>) -> Answer {
    let Some(allowed) = allowed(subject).filter(|allowed| !allowed.is_empty()) else {
        return Answer::warning(
            "which CPUs this process may use could not be determined",
            "placements may fail, or choose CPUs that others use",
            "mount /proc and /sys",
        );
    };
    if subject.sizes.clock_read_ns.is_none() {
        return Answer::warning(
            "a thread could not be placed on the measured CPU: starting or placing one (sched_setaffinity) is refused",
            "nothing can be measured on a CPU of its own",
            "let the session's filter (seccomp) and limits allow both",
        );
    }
    match restriction_on(subject.host, &allowed, &subject.host.online()) {
        Some(restriction) if restriction.contains("isolcpus") => Answer::note(
            restriction,
            "placements choose among these CPUs only; to measure an isolated CPU, ask for it by its number",
            "name one (`switchcost run 'NAME pair:A-A'`), or hand all on: taskset -c 0-N switchcost …",
        ),
        Some(restriction) => Answer::note(
            restriction,
            "placements choose among these CPUs only, and those who are kept to the same ones share them",
            "start switchcost without the restriction to use every CPU",
        ),
        None => Answer::fine("every online CPU may be used"),
    }
}

pub(super) fn smt(subject: &Subject<'_>) -> Answer {
    let cores = subject.host.each_cpu("topology/thread_siblings_list");
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

pub(super) fn unequal_cores(subject: &Subject<'_>) -> Answer {
    let online = subject.host.online();
    let (source, speeds) = speeds(subject.host);
    let fast = fast_cpus_on(subject.host, &online);
    let slow: Vec<u32> = online.iter().copied().filter(|cpu| !fast.contains(cpu)).collect();
    if speeds.is_empty() || slow.is_empty() {
        return Answer::fine("all cores are of one speed as far as the kernel tells");
    }
    Answer::note(
        format!(
            "cores differ in speed, by {source}: CPU {} fast, CPU {} slow",
            list::format(&fast),
            list::format(&slow)
        ),
        "a switch costs more on a slow core; the measured CPU is the last fast one that may be used",
        "to measure slow cores, keep switchcost to them with taskset; compare like with like",
    )
}
