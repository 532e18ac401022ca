//! What the kit asks of the operating system: one file a system, and each says what it cannot tell.

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

pub(crate) use system::{allowed_cpus, inherited, page_bytes, page_faults, zeroed_pages};
pub use system::{current_cpu, pin_this_thread};
