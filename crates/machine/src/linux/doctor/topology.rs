//! The CPUs there are.

use super::Subject;
use crate::list;
use crate::os::cpus::{fast_cpus_on, restriction_on, speeds};
use switchcost_model::Severity::{Fine, Note, Warning};
use switchcost_model::{Finding, finding};

/// CPUs that this process may use.
fn allowed(subject: &Subject<'_>) -> Option<Vec<u32>> {
    let online = subject.host.online();
    let mut allowed = list::parse(subject.host.status().get("Cpus_allowed_list")?)?;
    allowed.retain(|cpu| online.is_empty() || online.contains(cpu));
    Some(allowed)
}

pub(super) fn cpu_count(subject: &Subject<'_>) -> Finding {
    match allowed(subject).map(|cpus| cpus.len()) {
        Some(1) => finding!(Warning, cpu_count.one),
        Some(count) => finding!(Fine, cpu_count.several, count),
        None => finding!(Warning, cpu_count.unknown),
    }
}

pub(super) fn affinity(subject: &Subject<'_>) -> Finding {
    let Some(allowed) = allowed(subject).filter(|allowed| !allowed.is_empty()) else {
        return finding!(Warning, affinity.unknown);
    };
    if subject.sizes.clock_read_ns.is_none() {
        return finding!(Warning, affinity.unplaced);
    }
    let restricted = restriction_on(subject.host, &allowed, &subject.host.online());
    restricted.unwrap_or_else(|| finding!(Fine, affinity.all))
}

pub(super) fn smt(subject: &Subject<'_>) -> Finding {
    let cores = subject.host.each_cpu("topology/thread_siblings_list");
    match cores.iter().filter_map(|core| list::parse(core)).map(|core| core.len()).max() {
        Some(threads) if threads > 1 => finding!(Note, smt.siblings, threads),
        Some(_) => finding!(Fine, smt.none),
        None => finding!(Note, smt.unknown),
    }
}

pub(super) fn unequal_cores(subject: &Subject<'_>) -> Finding {
    let online = subject.host.online();
    let (source, speeds) = speeds(subject.host);
    let fast = fast_cpus_on(subject.host, &online);
    let slow: Vec<u32> = online.iter().copied().filter(|cpu| !fast.contains(cpu)).collect();
    if speeds.is_empty() || slow.is_empty() {
        return finding!(Fine, unequal_cores.equal);
    }
    finding!(Note, unequal_cores.unequal, source, fast = list::format(&fast), slow = list::format(&slow))
}
