//! The guests' machine code (guest_x86_64.s) and the structures it shares with Rust.

use std::arch::global_asm;

global_asm!(include_str!("guest_x86_64.s"));

extern "C" {
    static switchcost_guest_begin: u8;
    static switchcost_guest_pio: u8;
    static switchcost_guest_hlt: u8;
    static switchcost_guest_mmio: u8;
    static switchcost_guest_vmcall: u8;
    static switchcost_guest_vmmcall: u8;
    static switchcost_guest_token: u8;
    static switchcost_guest_calibrate: u8;
    #[cfg(test)]
    static switchcost_guest_spin: u8;
    static switchcost_guest_batch: u8;
    static switchcost_guest_member: u8;
    static switchcost_guest_end: u8;
    fn switchcost_guest_ring(record: usize, laps: u64, token: u64) -> u64;
}

/// Where a guest begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    Pio,
    Hlt,
    Mmio,
    Vmcall,
    Vmmcall,
    Token,
    Calibrate,
    #[cfg(test)]
    Spin,
    Batch,
    Member,
}

impl Entry {
    /// Address in the probe itself.
    fn label(self) -> *const u8 {
        match self {
            Self::Pio => &raw const switchcost_guest_pio,
            Self::Hlt => &raw const switchcost_guest_hlt,
            Self::Mmio => &raw const switchcost_guest_mmio,
            Self::Vmcall => &raw const switchcost_guest_vmcall,
            Self::Vmmcall => &raw const switchcost_guest_vmmcall,
            Self::Token => &raw const switchcost_guest_token,
            Self::Calibrate => &raw const switchcost_guest_calibrate,
            #[cfg(test)]
            Self::Spin => &raw const switchcost_guest_spin,
            Self::Batch => &raw const switchcost_guest_batch,
            Self::Member => &raw const switchcost_guest_member,
        }
    }

    /// Address where the code was copied to `code`; None: where it is in the probe.
    pub fn address(self, code: Option<usize>) -> usize {
        let begin = (&raw const switchcost_guest_begin).addr();
        self.label().addr() - begin + code.unwrap_or(begin)
    }
}

/// All of it, to be copied.
pub fn code() -> &'static [u8] {
    let begin = &raw const switchcost_guest_begin;
    let bytes = (&raw const switchcost_guest_end).addr() - begin.addr();
    // SAFETY: both labels stand in one section of the program, in this order, which is readable and
    // never written.
    unsafe { std::slice::from_raw_parts(begin, bytes) }
}

/// One batch of the ring of stacks, executed by the probe itself.
///
/// # Safety
/// `record` is the address of the first record of a ring that `guest_stack` laid out with addresses
/// of this process, in memory that stays as it is during the call; `laps` is not 0.
pub unsafe fn run_ring_here(record: usize, laps: u64, token: u64) -> u64 {
    // SAFETY: the caller promises it; the code touches the records, the stacks they name and its
    // own stack, keeps to the System V ABI, and comes back after `laps` laps.
    unsafe { switchcost_guest_ring(record, laps, token) }
}

/// What KVM must be told before a hypercall reaches the process, and rax of it.
pub const HYPERCALL_MAP_GPA_RANGE: u64 = 12;

/// Port of everything that leaves by port output; guest_x86_64.s also knows it. Nothing is there in
/// a PC either.
pub const PORT: u16 = 0x10;

/// Words of `struct Record`, one per context of the ring of stacks, as guest_x86_64.s has them.
pub mod record {
    /// Suspended stack pointer.
    pub const STACK: usize = 0;
    /// Token that comes next; it advances by one lap each turn, so it counts the turns.
    pub const DUE: usize = 8;
    /// Address of the next context's record.
    pub const NEXT: usize = 16;
    /// Length of the ring.
    pub const LAP: usize = 24;
    /// Not 0: a token came that was not due.
    pub const BROKEN: usize = 32;
    /// A cache line each.
    pub const BYTES: usize = 64;
}

/// Words of `struct Batch`.
pub mod batch {
    /// Address of the first record.
    pub const RECORD: usize = 0;
    /// How many laps.
    pub const LAPS: usize = 8;
    /// Token, in and out.
    pub const TOKEN: usize = 16;
    /// Time stamp counter before.
    pub const BEGIN: usize = 24;
    /// And after.
    pub const END: usize = 32;
}

/// What `switchcost_guest_switch` pops from the stack of a context that has not run yet.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct Frame {
    pub r15: u64,
    pub r14: u64,
    /// Length of the ring.
    pub r13: u64,
    pub r12: u64,
    /// Own record.
    pub rbx: u64,
    /// Next record.
    pub rbp: u64,
    /// Where it begins.
    pub entry: u64,
}

impl Frame {
    /// The words from the stack pointer upwards.
    pub fn words(&self) -> [u64; 7] {
        [self.r15, self.r14, self.r13, self.r12, self.rbx, self.rbp, self.entry]
    }
}
