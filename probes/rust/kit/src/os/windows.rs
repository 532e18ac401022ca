//! Windows.

pub(crate) use super::unplaced::{allowed_cpus, current_thread};
pub use super::unplaced::{current_cpu, pin_this_thread};
use std::fs::File;
use std::io;
use std::os::windows::io::{AsRawHandle, FromRawHandle};
use std::sync::atomic::AtomicU64;

/// What the process has used: not told here.
pub(crate) fn usage() -> Option<super::Usage> {
    None
}

/// The file behind standard error for 2, behind standard output for all else: Windows hands no
/// other number on.
///
/// # Safety
/// Nothing else in the process may write to it through another owner of the handle.
pub(crate) unsafe fn inherited(fd: i32) -> File {
    let handle = if fd == 2 { io::stderr().as_raw_handle() } else { io::stdout().as_raw_handle() };
    // SAFETY: the handle is the process's own standard one; the caller promises that nobody else
    // closes it.
    unsafe { File::from_raw_handle(handle) }
}

/// Zeroed memory that is never given back.
pub(crate) fn zeroed_pages(bytes: usize) -> io::Result<&'static [AtomicU64]> {
    Ok(Vec::leak((0..bytes / 8).map(|_| AtomicU64::new(0)).collect()))
}

/// Not asked for here: what counts in pages cannot be read.
pub(crate) fn page_bytes() -> Option<i64> {
    None
}

/// No system call is known to do nothing here.
pub(crate) fn null_call() -> Option<()> {
    None
}
