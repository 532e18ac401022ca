//! Memory and resource usage of a system of the Unix kind.

use super::Usage;
use nix::sys::mman::{mmap_anonymous, MapFlags, ProtFlags};
use nix::sys::resource::{getrusage, UsageWho};
use nix::unistd::{getppid, sysconf, SysconfVar};
use std::io;
use std::num::NonZeroUsize;
use std::sync::atomic::AtomicU64;

/// Fresh zeroed pages that are never given back.
pub(crate) fn zeroed_pages(bytes: usize) -> io::Result<&'static [AtomicU64]> {
    let length = NonZeroUsize::new(bytes).ok_or(io::ErrorKind::InvalidInput)?;
    let protection = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
    // SAFETY: a new private mapping, at an address of the kernel's choice.
    let address = unsafe { mmap_anonymous(None, length, protection, MapFlags::MAP_PRIVATE | MapFlags::MAP_NORESERVE)? };
    #[cfg(target_os = "linux")]
    // SAFETY: advice on the mapping just made. Where there are no huge pages there is nothing to
    // refuse.
    let _ = unsafe { nix::sys::mman::madvise(address, bytes, nix::sys::mman::MmapAdvise::MADV_NOHUGEPAGE) };
    // SAFETY: zeroed pages that are never unmapped and that only these references reach; any bits
    // are an AtomicU64.
    Ok(unsafe { std::slice::from_raw_parts(address.as_ptr().cast(), bytes / 8) })
}

/// Size of a page in bytes.
pub(crate) fn page_bytes() -> Option<i64> {
    sysconf(SysconfVar::PAGE_SIZE).ok()?
}

/// What the process has used so far.
pub(crate) fn usage() -> Option<Usage> {
    let usage = getrusage(UsageWho::RUSAGE_SELF).ok()?;
    let cpu = usage.user_time() + usage.system_time();
    Some(Usage {
        minor_faults: usage.minor_page_faults() as i64,
        major_faults: usage.major_page_faults() as i64,
        cpu_ns: (cpu.tv_sec() as i64 * 1_000_000 + cpu.tv_usec() as i64) * 1000,
    })
}

/// A system call that does nothing.
pub(crate) fn null_call() -> Option<()> {
    std::hint::black_box(getppid());
    Some(())
}
