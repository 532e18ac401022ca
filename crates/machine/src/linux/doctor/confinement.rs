//! Control groups and filters around this process.

use super::{Answer, Subject, about};
use crate::os::cgroup::Cgroups;

/// What one cpu group above a task adds to a switch; measured on the authors' machine (nested v1 groups, pipe).
const NS_PER_LEVEL: usize = 100;

pub(super) fn proc(subject: &Subject<'_>) -> Answer {
    match subject.host.read("/proc/self/status") {
        Ok(_) => Answer::fine("/proc can be read"),
        Err(reason) => Answer::warning(
            reason,
            "what the kernel counts is unseen: rows that need it are unobservable, disturbed starts are not recognised, and quotas, \
             control groups, steal time and limits are not known, whatever is said of them here",
            "mount it (mount -t proc proc /proc), or let the sandbox show it",
        ),
    }
}

pub(super) fn cpu_quota(subject: &Subject<'_>) -> Answer {
    let groups = Cgroups::read(subject.host);
    let Some(quota) = groups.quota(subject.host) else {
        return Answer::fine("no CPU quota is set on this process's control groups");
    };
    let throttled = groups.throttled(subject.host);
    let (count, ns) = throttled.values().fold((0, 0), |sum, of| (sum.0 + of.0, sum.1 + of.1));
    let what = format!(
        "the control group may use {:.0} % of one CPU (stopped {count} times so far, {:.1} s)",
        quota * 100.0,
        ns as f64 / 1e9
    );
    let effect = if quota < 1.0 {
        format!(
            "a probe runs {:.0} ms of each 100 ms and then stands still: samples that meet a stop are up to {:.0} ms too long",
            quota * 100.0,
            100.0 - quota * 100.0
        )
    } else {
        "accounting for the quota adds tens of ns to a switch, and work on more CPUs than it allows is stopped"
            .to_owned()
    };
    let cure = "start switchcost in a control group without quota (systemd: CPUQuota=, docker: --cpus)";
    if quota < 2.0 { Answer::warning(what, effect, cure) } else { Answer::note(what, effect, cure) }
}

pub(super) fn cgroup_depth(subject: &Subject<'_>) -> Answer {
    match Cgroups::read(subject.host).depth(subject.host) {
        Some(0) => Answer::fine("this process is in the root of the cpu controller, as far as it can see"),
        Some(depth) => Answer::note(
            format!("this process is {depth} cpu control groups deep"),
            format!(
                "each level adds about {NS_PER_LEVEL} ns to a kernel switch (an estimate from another machine), {} ns here",
                depth * NS_PER_LEVEL
            ),
            "compare only runs of equal depth; the depth is part of the machine's key",
        ),
        None => Answer::fine("no cpu control group is to be seen"),
    }
}

pub(super) fn seccomp(subject: &Subject<'_>) -> Answer {
    let status = subject.host.status();
    match status.get("Seccomp").map(String::as_str) {
        Some("0") => Answer::fine("no seccomp filter is set"),
        Some(mode @ ("1" | "2")) => Answer::note(
            format!(
                "a seccomp filter is set (mode {mode}, {} filters)",
                status.get("Seccomp_filters").map_or("some", String::as_str)
            ),
            format!(
                "every system call passes it (one that does nothing costs {} here), and mechanisms it forbids are unsupported",
                about(subject.sizes.system_call_ns)
            ),
            "run outside the container, or with its filter off (docker: --security-opt seccomp=unconfined)",
        ),
        _ => Answer::note(
            "whether a seccomp filter is set cannot be read",
            "one would add tens of ns to each system call",
            "mount /proc",
        ),
    }
}
