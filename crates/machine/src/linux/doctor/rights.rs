//! What this process may do.

use super::{Answer, Subject};
use crate::os::cgroup::Cgroups;

/// Numbers of capabilities.
const SYS_ADMIN: u32 = 21;
const SYS_NICE: u32 = 23;
const PERFMON: u32 = 38;

fn capable(subject: &Subject<'_>, capability: u32) -> bool {
    let status = subject.host.status();
    let effective = status.get("CapEff").and_then(|hex| u64::from_str_radix(hex, 16).ok());
    effective.is_some_and(|bits| bits & (1 << capability) != 0)
}

pub(super) fn perf_events(subject: &Subject<'_>) -> Answer {
    let level = subject.host.number("/proc/sys/kernel/perf_event_paranoid");
    if capable(subject, SYS_ADMIN) || capable(subject, PERFMON) || level.as_ref().is_ok_and(|&level| level <= 1) {
        return Answer::fine("kernel events may be counted");
    }
    let level = level
        .map_or_else(|_| "the kernel has no perf events".to_owned(), |level| format!("perf_event_paranoid={level}"));
    Answer::note(
        format!("kernel events may not be counted ({level})"),
        "evidence rests on rusage counters only; switches of other processes stay unseen",
        "sudo sysctl kernel.perf_event_paranoid=1",
    )
}

pub(super) fn realtime(subject: &Subject<'_>) -> Answer {
    let refused = |why: &str, cure: &str| {
        let effect = "variants with a real-time policy are unsupported; the others lose nothing";
        Answer::note(format!("real-time priorities may not be used ({why})"), effect, cure)
    };
    if !capable(subject, SYS_NICE) {
        return refused("CAP_SYS_NICE is missing", "run as root, or setcap cap_sys_nice+ep on the probe");
    }
    let of_all = subject.host.number("/proc/sys/kernel/sched_rt_runtime_us").unwrap_or(-1);
    // At -1 the kernel asks no group.
    let group = Cgroups::read(subject.host).rt_runtime(subject.host).filter(|_| of_all >= 0);
    match (of_all, group) {
        (0, _) => refused("kernel.sched_rt_runtime_us=0", "sudo sysctl kernel.sched_rt_runtime_us=950000"),
        (_, Some(0)) => refused(
            "cpu.rt_runtime_us=0 in this control group",
            "write 100000 to cpu.rt_runtime_us of the groups above it, then of this one; or run switchcost in the root group",
        ),
        _ => Answer::fine(format!(
            "real-time priorities may be used (CAP_SYS_NICE; kernel.sched_rt_runtime_us={of_all})"
        )),
    }
}

pub(super) fn kvm(subject: &Subject<'_>) -> Answer {
    let open = std::fs::File::options().read(true).write(true).open(subject.host.path("/dev/kvm"));
    match open {
        Ok(_) => Answer::fine("/dev/kvm can be used"),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Answer::note(
            "no virtual machines: there is no /dev/kvm",
            "family vm is unsupported",
            "enable virtualisation in the firmware, or nested virtualisation in the hypervisor, and load the kvm module",
        ),
        Err(error) => Answer::note(
            format!("no virtual machines: /dev/kvm cannot be opened: {}", crate::os::host::cause(&error)),
            "family vm is unsupported",
            "add yourself to the group of /dev/kvm (sudo usermod -aG kvm $USER) and log in again",
        ),
    }
}

pub(super) fn orphans(_: &Subject<'_>) -> Answer {
    match crate::os::strays::adoption() {
        Ok(()) => Answer::fine("what a probe leaves behind is adopted and ended"),
        Err(error) => Answer::note(
            format!("orphans cannot be adopted (prctl: {}), as under qemu-user", crate::cause::cause(&error)),
            "what a probe leaves behind is known by a mark in its environment; who clears that would outlive the run",
            "run switchcost on the system itself, or let its seccomp filter allow PR_SET_CHILD_SUBREAPER",
        ),
    }
}

/// Soft limit of a row of `/proc/self/limits`; None: unlimited or not listed.
fn soft_limit(subject: &Subject<'_>, name: &str) -> Option<u64> {
    let text = subject.host.read("/proc/self/limits").ok()?;
    text.lines().find_map(|line| line.strip_prefix(name))?.split_ascii_whitespace().next()?.parse().ok()
}

/// A ring of contexts that the sweep asks for without being told otherwise.
const WANTED: u64 = 10_000;

pub(super) fn process_limit(subject: &Subject<'_>) -> Answer {
    match soft_limit(subject, "Max processes") {
        Some(limit) if limit < WANTED => Answer::note(
            format!("at most {limit} processes and threads of this user may exist"),
            format!("rings of threads or processes are limited to fewer than {limit} contexts"),
            "ulimit -u, or nproc in /etc/security/limits.conf",
        ),
        Some(limit) => Answer::fine(format!("{limit} processes and threads of this user may exist")),
        None => Answer::fine("no limit of the number of processes is to be seen"),
    }
}

pub(super) fn file_limit(subject: &Subject<'_>) -> Answer {
    match soft_limit(subject, "Max open files") {
        Some(limit) if limit < 2 * WANTED => Answer::note(
            format!("a process may open {limit} files"),
            format!(
                "rings joined by pipes or sockets (two descriptors each) are limited to about {} contexts",
                limit.saturating_sub(32) / 2
            ),
            "ulimit -n, up to the hard limit",
        ),
        Some(limit) => Answer::fine(format!("a process may open {limit} files")),
        None => Answer::fine("no limit of the number of open files is to be seen"),
    }
}
