//! macOS and other systems of the Unix kind.

pub(crate) use super::mapping::{page_bytes, zeroed_pages};
pub(crate) use super::unplaced::allowed_cpus;
pub use super::unplaced::{current_cpu, pin_this_thread};
use nix::sys::resource::{getrusage, UsageWho};
use std::fs::File;
use std::os::fd::FromRawFd;

/// Minor and major page faults of the process.
pub(crate) fn page_faults() -> Option<(i64, i64)> {
    let usage = getrusage(UsageWho::RUSAGE_SELF).ok()?;
    Some((usage.minor_page_faults() as i64, usage.major_page_faults() as i64))
}

/// The file behind a descriptor that the parent left open.
///
/// # Safety
/// Nothing else in the process may own `fd`.
pub(crate) unsafe fn inherited(fd: i32) -> File {
    // SAFETY: the caller promises that nothing else owns it; a number that is not open makes writing fail, no worse.
    unsafe { File::from_raw_fd(fd) }
}
