//! What this process may do.

use super::Subject;
use crate::os::cgroup::Cgroups;
use switchcost_model::Severity::{Fine, Note, Warning};
use switchcost_model::{Finding, finding};

/// Numbers of capabilities.
const SYS_ADMIN: u32 = 21;
const SYS_NICE: u32 = 23;
const PERFMON: u32 = 38;

fn capable(subject: &Subject<'_>, capability: u32) -> bool {
    let status = subject.host.status();
    let effective = status.get("CapEff").and_then(|hex| u64::from_str_radix(hex, 16).ok());
    effective.is_some_and(|bits| bits & (1 << capability) != 0)
}

pub(super) fn perf_events(subject: &Subject<'_>) -> Finding {
    let level = subject.host.number("/proc/sys/kernel/perf_event_paranoid");
    let capable = capable(subject, SYS_ADMIN) || capable(subject, PERFMON);
    match level {
        Ok(level) if !capable && level > 1 => finding!(Note, perf_events.refused, level),
        Err(_) if !capable => finding!(Note, perf_events.absent),
        _ => finding!(Fine, perf_events.allowed),
    }
}

pub(super) fn realtime(subject: &Subject<'_>) -> Finding {
    if !capable(subject, SYS_NICE) {
        return finding!(Note, realtime.incapable);
    }
    let of_all = subject.host.number("/proc/sys/kernel/sched_rt_runtime_us").unwrap_or(-1);
    // At -1 the kernel asks no group.
    let group = Cgroups::read(subject.host).rt_runtime(subject.host).filter(|_| of_all >= 0);
    match (of_all, group) {
        (0, _) => finding!(Note, realtime.no_time),
        (_, Some(0)) => finding!(Note, realtime.no_time_of_group),
        _ => finding!(Fine, realtime.allowed, limit = of_all),
    }
}

pub(super) fn kvm(subject: &Subject<'_>) -> Finding {
    let open = std::fs::File::options().read(true).write(true).open(subject.host.path("/dev/kvm"));
    match open {
        Ok(_) => finding!(Fine, kvm.usable),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => finding!(Note, kvm.absent),
        Err(error) => finding!(Note, kvm.closed, cause = crate::cause::cause(&error)),
    }
}

pub(super) fn orphans(_: &Subject<'_>) -> Finding {
    adopted(crate::os::strays::adoption())
}

/// What the system's answer means; a machine of files has none.
pub(super) fn adopted(answer: std::io::Result<()>) -> Finding {
    match answer {
        Ok(()) => finding!(Fine, orphans.adopted),
        Err(error) => finding!(Note, orphans.marked, cause = crate::cause::cause(&error)),
    }
}

/// Soft limit of a row of `/proc/self/limits`; None: unlimited or not listed.
fn soft_limit(subject: &Subject<'_>, name: &str) -> Option<u64> {
    let text = subject.host.read("/proc/self/limits").ok()?;
    text.lines().find_map(|line| line.strip_prefix(name))?.split_ascii_whitespace().next()?.parse().ok()
}

/// A ring of contexts that the sweep asks for without being told otherwise.
const WANTED: u64 = 10_000;

pub(super) fn process_limit(subject: &Subject<'_>) -> Finding {
    match soft_limit(subject, "Max processes") {
        Some(limit) if limit < WANTED => finding!(Note, process_limit.low, limit),
        Some(limit) => finding!(Fine, process_limit.high, limit),
        None => finding!(Fine, process_limit.none),
    }
}

pub(super) fn file_limit(subject: &Subject<'_>) -> Finding {
    match soft_limit(subject, "Max open files") {
        Some(limit) if limit < 2 * WANTED => {
            finding!(Note, file_limit.low, limit, contexts = limit.saturating_sub(32) / 2)
        }
        Some(limit) => finding!(Fine, file_limit.high, limit),
        None => finding!(Fine, file_limit.none),
    }
}

/// A stack that each thread maps, and that makes a thread more expensive, bytes: eight times the
/// usual one.
const LARGE_STACK: u64 = 64 << 20;

/// What runtimes meet first; the numbers of processes and files have findings of their own.
pub(super) fn session_limits(subject: &Subject<'_>) -> Finding {
    let text = subject.host.read("/proc/self/limits").unwrap_or_default();
    let counted = ["RLIMIT_NOFILE", "RLIMIT_NPROC"];
    let tight = crate::limits::tight(&text).0.into_iter().filter(|limit| !counted.contains(&limit.limit.as_str()));
    let low: Vec<String> = tight.map(|limit| limit.to_string()).collect();
    match soft_limit(subject, "Max stack size") {
        _ if !low.is_empty() => finding!(Warning, session_limits.low, limits = low.join(", ")),
        Some(stack) if stack > LARGE_STACK => finding!(Note, session_limits.large_stack, mib = stack >> 20),
        _ => finding!(Fine, session_limits.usual),
    }
}
