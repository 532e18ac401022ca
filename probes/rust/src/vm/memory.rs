//! Memory of a guest: pages of this process, which guest and host may both touch at any time.

use kit::Refusal;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;

/// Guest-physical memory from address 0.
#[derive(Debug)]
pub struct Memory {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the mapping belongs to this value alone and is reached only through atomics (`word`) or
// before the guest runs (`copy`).
unsafe impl Send for Memory {}
// SAFETY: as above; `copy` needs &mut.
unsafe impl Sync for Memory {}

const PAGE: usize = 4096;

impl Memory {
    /// Zeroed memory, rounded up to pages.
    pub fn new(bytes: usize) -> Result<Self, Refusal> {
        let bytes = bytes.next_multiple_of(PAGE);
        let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping at an address that the kernel chooses touches nothing that exists.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), bytes, access, kind, -1, 0) };
        if start == libc::MAP_FAILED {
            return Err(super::limit("memory for a guest", &std::io::Error::last_os_error()));
        }
        // Small pages always: with a huge page the cost of the ring, and a footprint, would be a
        // matter of luck. SAFETY: the advice concerns the pages just mapped. A kernel that does not
        // know it changes nothing.
        unsafe { libc::madvise(start, bytes, libc::MADV_NOHUGEPAGE) };
        let start =
            NonNull::new(start.cast()).ok_or_else(|| Refusal::failed("set_up_failed", "memory at address 0"))?;
        Ok(Self { start, bytes })
    }

    /// Where it begins in this process.
    pub fn host_address(&self) -> usize {
        self.start.as_ptr().addr()
    }

    /// Its size.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The word at a guest address that is a multiple of 8.
    #[inline(always)]
    pub fn word(&self, at: usize) -> &AtomicU64 {
        assert!(at % 8 == 0 && at + 8 <= self.bytes, "guest address {at:#x} is outside");
        // SAFETY: inside the mapping and aligned (the mapping begins on a page), which lives as
        // long as &self, and an atomic may be changed by the guest at any time.
        unsafe { AtomicU64::from_ptr(self.start.as_ptr().add(at).cast()) }
    }

    /// Puts bytes at a guest address.
    pub fn copy(&mut self, at: usize, bytes: &[u8]) {
        assert!(at + bytes.len() <= self.bytes, "guest address {at:#x} is outside");
        // SAFETY: inside the mapping; &mut self says that no guest has it yet, and `bytes` cannot
        // overlap with it.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.start.as_ptr().add(at), bytes.len()) };
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: mapped by `new` with this size; nothing can refer to it any more.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}
