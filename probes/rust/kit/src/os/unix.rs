//! macOS and other systems of the Unix kind.

pub(crate) use super::mapping::{null_call, page_bytes, usage, zeroed_pages};
pub(crate) use super::unplaced::{allowed_cpus, current_thread};
pub use super::unplaced::{current_cpu, pin_this_thread};
use std::fs::File;
use std::os::fd::FromRawFd;

/// The file behind a descriptor that the parent left open.
///
/// # Safety
/// Nothing else in the process may own `fd`.
pub(crate) unsafe fn inherited(fd: i32) -> File {
    // SAFETY: the caller promises that nothing else owns it; a number that is not open makes
    // writing fail, no worse.
    unsafe { File::from_raw_fd(fd) }
}
