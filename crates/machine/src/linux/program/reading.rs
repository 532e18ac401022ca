//! What a look reads of `/proc`.

use crate::os::host::Host;
use crate::os::stat::Stat;
use crate::program::ProgramError;
use rustix::fs::{Mode, OFlags};
use rustix::process::Pid;
use std::os::fd::{AsFd, OwnedFd};

pub(super) fn open(folder: &impl AsFd, path: impl rustix::path::Arg) -> rustix::io::Result<OwnedFd> {
    rustix::fs::openat(folder, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
}

pub(super) fn raw_pid(pid: u32) -> Option<Pid> {
    Pid::from_raw(i32::try_from(pid).ok()?)
}

/// Gone, or only not shown: a signal that is none finds out.
pub(super) fn missing(pid: u32) -> ProgramError {
    match raw_pid(pid).map(rustix::process::test_kill_process) {
        Some(Ok(()) | Err(rustix::io::Errno::PERM)) => ProgramError::Hidden(pid),
        _ => ProgramError::Gone(pid),
    }
}

pub(super) fn is_of_another_user(host: &Host, pid: u32) -> bool {
    use std::os::unix::fs::MetadataExt;
    let own = rustix::process::geteuid().as_raw();
    own != 0 && std::fs::metadata(host.path(format!("/proc/{pid}"))).is_ok_and(|folder| folder.uid() != own)
}

pub(super) fn threads_of(host: &Host, process: u32) -> Vec<u32> {
    let entries = std::fs::read_dir(host.path(format!("/proc/{process}/task"))).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// What a look takes from a `status` file, in one pass: it has some sixty lines.
pub(super) struct Status<'a> {
    pub name: &'a str,
    pub voluntary: u64,
    pub involuntary: u64,
}

impl<'a> Status<'a> {
    pub(super) fn of(text: &'a str) -> Option<Self> {
        let (mut name, mut voluntary, mut involuntary) = ("?", None, None);
        for (field, value) in text.lines().filter_map(|line| line.split_once(':')) {
            match field {
                "Name" => name = value.trim(),
                "voluntary_ctxt_switches" => voluntary = value.trim().parse().ok(),
                "nonvoluntary_ctxt_switches" => involuntary = value.trim().parse().ok(),
                _ => {}
            }
        }
        Some(Self { name, voluntary: voluntary?, involuntary: involuntary? })
    }
}

/// No thread of the process runs any more: the first may end long before the others.
pub(super) fn has_ended(stat: &Stat<'_>) -> bool {
    stat.has_ended() && stat.threads().is_none_or(|threads| threads <= 1)
}

/// CPU time in ns, and how often it got a CPU (Documentation/scheduler/sched-stats.rst).
pub(super) fn schedstat(text: &str) -> (Option<u64>, Option<u64>) {
    let mut numbers = text.split_ascii_whitespace().map(|word| word.parse().ok());
    (numbers.next().flatten(), numbers.nth(1).flatten())
}

/// Interrupts by which CPUs make each other look: the sum over all CPUs of those for rescheduling
/// and for calling a function, by either of which a kernel wakes an idle one. A CPU's own count of
/// idle states would be nearer, but not every kernel keeps it.
pub(super) fn wake_interrupts(host: &Host) -> Option<u64> {
    let text = host.read("/proc/interrupts").ok()?;
    let counts = text
        .lines()
        .filter(|line| line.contains("Rescheduling interrupts") || line.contains("Function call interrupts"));
    let sum =
        |line: &str| line.split_ascii_whitespace().skip(1).map_while(|word| word.parse::<u64>().ok()).sum::<u64>();
    counts.map(sum).reduce(|a, b| a + b)
}
