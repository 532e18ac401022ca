//! What the kit asks of the operating system: one file per system, and each says what it cannot
//! tell.

#[cfg(unix)]
mod mapping;
#[cfg(target_os = "linux")]
#[path = "linux.rs"]
mod system;
#[cfg(all(unix, not(target_os = "linux")))]
#[path = "unix.rs"]
mod system;
#[cfg(windows)]
#[path = "windows.rs"]
mod system;
#[cfg(not(target_os = "linux"))]
mod unplaced;

pub(crate) use system::{allowed_cpus, current_thread, inherited, null_call, page_bytes, usage, zeroed_pages};
pub use system::{current_cpu, pin_this_thread};

/// Resources that the whole process has used.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Usage {
    pub(crate) minor_faults: i64,
    pub(crate) major_faults: i64,
    /// CPU time of all its threads, to the microsecond.
    pub(crate) cpu_ns: i64,
}
