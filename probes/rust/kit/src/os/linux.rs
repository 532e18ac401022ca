//! Linux.

pub(crate) use super::mapping::{null_call, page_bytes, usage, zeroed_pages};
use crate::refusal::Refusal;
use nix::errno::Errno;
use nix::libc;
use nix::sched::sched_getcpu;
use nix::unistd::gettid;
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

/// As many CPUs as Linux can have. The C library's set ends at 1,024, and a kernel that has room
/// for more does not even answer with so few.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cpus([u64; 8192 / 64]);

impl Cpus {
    fn of(cpu: u32) -> Result<Self, Errno> {
        let mut set = Self([0; 8192 / 64]);
        *set.0.get_mut(cpu as usize / 64).ok_or(Errno::EINVAL)? |= 1 << (cpu % 64);
        Ok(set)
    }

    fn members(&self) -> Vec<u32> {
        let has = |cpu: &u32| self.0[*cpu as usize / 64] >> (cpu % 64) & 1 == 1;
        (0..self.0.len() as u32 * 64).filter(has).collect()
    }

    /// Restricts the calling thread to it.
    fn apply(&self) -> Result<(), Errno> {
        // SAFETY: the kernel reads as many bytes as the set has.
        let answer = unsafe { libc::sched_setaffinity(0, size_of::<Self>(), self.0.as_ptr().cast()) };
        Errno::result(answer).map(drop)
    }
}

/// CPUs the process may run on, where it can be told.
pub(crate) fn allowed_cpus() -> Option<Vec<u32>> {
    let mut set = Cpus([0; 8192 / 64]);
    // SAFETY: the kernel writes at most as many bytes as the set has.
    let answer = unsafe { libc::sched_getaffinity(0, size_of::<Cpus>(), set.0.as_mut_ptr().cast()) };
    (answer == 0).then(|| set.members())
}

/// Restricts the calling thread to one CPU: for mechanisms whose contexts have threads of their
/// own.
pub fn pin_this_thread(cpu: u32) -> Result<(), Refusal> {
    Cpus::of(cpu).and_then(|set| set.apply()).map_err(|error| {
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
    // SAFETY: the caller promises that nothing else owns it; a number that is not open makes
    // writing fail, no worse.
    unsafe { File::from_raw_fd(fd) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_room_for_any_machine() {
        for cpu in [0, 63, 64, 1023, 1024, 8191] {
            assert_eq!(Cpus::of(cpu).unwrap().members(), [cpu]);
        }
        assert_eq!(Cpus::of(8192), Err(Errno::EINVAL));
        // What was granted comes back.
        let cpu = allowed_cpus().unwrap()[0];
        std::thread::spawn(move || {
            pin_this_thread(cpu).unwrap();
            assert_eq!(allowed_cpus().unwrap(), [cpu]);
        })
        .join()
        .unwrap();
    }
}
