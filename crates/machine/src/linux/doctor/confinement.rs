//! Control groups and filters around this process.

use super::{Subject, time};
use crate::os::cgroup::Cgroups;
use switchcost_model::Severity::{Fine, Note, Warning};
use switchcost_model::{Finding, finding};

/// What one cpu group above a task adds to a switch; measured on the authors' machine (nested v1
/// groups, pipe).
const NS_PER_LEVEL: usize = 100;

pub(super) fn proc(subject: &Subject<'_>) -> Finding {
    match subject.host.text("/proc/self/status") {
        Ok(_) if !subject.host.has_own_ids() => finding!(Warning, proc.foreign),
        Ok(_) => finding!(Fine, proc.readable),
        Err(cause) => finding!(Warning, proc.unreadable, cause),
    }
}

pub(super) fn cpu_quota(subject: &Subject<'_>) -> Finding {
    let groups = Cgroups::read(subject.host);
    let Some(cpus) = groups.quota(subject.host) else {
        return finding!(Fine, cpu_quota.none);
    };
    let throttled = groups.throttled(subject.host);
    let (times, ns) = throttled.values().fold((0, 0), |sum, of| (sum.0 + of.0, sum.1 + of.1));
    let (quota, stopped) = (format!("{:.0} %", cpus * 100.0), format!("{:.1} s", ns as f64 / 1e9));
    if cpus < 1.0 {
        let [runs, stands] = [cpus, 1.0 - cpus].map(|share| format!("{:.0} ms", share * 100.0));
        return finding!(Warning, cpu_quota.part, quota, times, stopped, runs, stands);
    }
    finding!(if cpus < 2.0 { Warning } else { Note }, cpu_quota.whole, quota, times, stopped)
}

pub(super) fn cgroup_depth(subject: &Subject<'_>) -> Finding {
    let ns = |levels: usize| format!("{} ns", levels * NS_PER_LEVEL);
    match Cgroups::read(subject.host).depth(subject.host) {
        Some(0) => finding!(Fine, cgroup_depth.root),
        Some(depth) => finding!(Note, cgroup_depth.deep, depth, level = ns(1), all = ns(depth)),
        None => finding!(Fine, cgroup_depth.none),
    }
}

pub(super) fn seccomp(subject: &Subject<'_>) -> Finding {
    let status = subject.host.status();
    match status.get("Seccomp").map(String::as_str) {
        Some("0") => finding!(Fine, seccomp.none),
        Some(mode @ ("1" | "2")) => {
            let filters = status.get("Seccomp_filters").map_or("some", String::as_str);
            finding!(Note, seccomp.set, mode, filters, call = time(subject.sizes.system_call_ns))
        }
        _ => finding!(Note, seccomp.unknown),
    }
}
