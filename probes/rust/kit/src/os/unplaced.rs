//! Systems on which a thread cannot be placed, or nobody has written how.

use crate::refusal::Refusal;

/// CPU of the calling thread: not told here.
#[must_use]
pub fn current_cpu() -> Option<u32> {
    None
}

/// The kernel's number of the calling thread: not told here.
pub(crate) fn current_thread() -> Option<i32> {
    None
}

/// CPUs the process may run on: not told here.
pub(crate) fn allowed_cpus() -> Option<Vec<u32>> {
    None
}

/// Threads are not placed here.
pub fn pin_this_thread(cpu: u32) -> Result<(), Refusal> {
    Err(Refusal::unsupported("unsupported_here", format!("threads cannot be moved to CPU {cpu} on this system")))
}
