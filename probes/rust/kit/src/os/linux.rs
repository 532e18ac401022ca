//! Linux.

pub(crate) use super::mapping::{null_call, page_bytes, usage, zeroed_pages};
use crate::refusal::Refusal;
use nix::sched::{sched_getaffinity, sched_getcpu, sched_setaffinity, CpuSet};
use nix::unistd::{gettid, Pid};
use std::fs::File;
use std::os::fd::FromRawFd;

/// CPU of the calling thread, where it can be told.
#[must_use]
pub fn current_cpu() -> Option<u32> {
    sched_getcpu().ok().and_then(|cpu| u32::try_from(cpu).ok())
}

/// The kernel's number of the calling thread, where it can be told.
pub(crate) fn current_thread() -> Option<i32> {
    Some(gettid().as_raw())
}

/// CPUs the process may run on, where it can be told.
pub(crate) fn allowed_cpus() -> Option<Vec<u32>> {
    let set = sched_getaffinity(Pid::from_raw(0)).ok()?;
    Some((0..CpuSet::count()).filter(|&cpu| set.is_set(cpu).unwrap_or(false)).map(|cpu| cpu as u32).collect())
}

/// Restricts the calling thread to one CPU: for mechanisms whose contexts have threads of their own.
pub fn pin_this_thread(cpu: u32) -> Result<(), Refusal> {
    let mut set = CpuSet::new();
    let pinned = set.set(cpu as usize).and_then(|()| sched_setaffinity(Pid::from_raw(0), &set));
    pinned.map_err(|error| {
        let detail =
            format!("a thread cannot be moved to CPU {cpu} ({error}); name CPUs that `nproc` counts in `cpus`");
        Refusal::failed("set_up_failed", detail)
    })
}

/// The file behind a descriptor that the parent left open.
///
/// # Safety
/// Nothing else in the process may own `fd`.
pub(crate) unsafe fn inherited(fd: i32) -> File {
    // SAFETY: the caller promises that nothing else owns it; a number that is not open makes writing fail, no worse.
    unsafe { File::from_raw_fd(fd) }
}
