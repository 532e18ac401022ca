//! One virtual machine with one processor, and its entry.
//!
//! 64-bit mode, flat segments, guest-virtual = guest-physical addresses through large pages, no
//! descriptor tables: nothing loads a segment and nothing may fault. A guest that does fault shuts
//! down, which is an exit that nobody expects.

use super::guest::{self, Entry, HYPERCALL_MAP_GPA_RANGE, PORT};
use super::memory::Memory;
use super::{kvm, refused, watchdog};
use kit::Refusal;
use kvm_bindings::{kvm_enable_cap, kvm_regs, kvm_segment, kvm_sregs, kvm_userspace_memory_region, CpuId};
use kvm_bindings::{KVM_CAP_EXIT_HYPERCALL, KVM_MAX_CPUID_ENTRIES};
use kvm_ioctls::{VcpuExit, VcpuFd, VmFd};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, OnceLock};

/// Privilege of the guest's code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ring {
    Kernel,
    User,
}

/// How a guest leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Port,
    Halt,
    Memory,
    Hypercall,
}

/// Why a guest did not leave as it should.
#[derive(Debug, PartialEq, Eq)]
pub enum Stop {
    /// The watchdog brought it out.
    Stuck,
    /// Something else happened in it.
    Unexpected(String),
}

impl Stop {
    pub fn refusal(self) -> Refusal {
        let detail = match self {
            Self::Stuck => format!(
                "a guest that had the CPU did not leave KVM_RUN for {} s and was brought out by a signal; this hypervisor does not carry out what the guest does, try another `by` or `ring`",
                watchdog::PATIENCE.as_secs()
            ),
            Self::Unexpected(what) => format!("a guest did something else than to hand over to the host: {what}"),
        };
        Refusal::failed("self_check_failed", detail)
    }
}

// Guest-physical addresses.
const PAGE_MAP: usize = 0x1000;
const PAGE_POINTERS: usize = 0x2000;
const PAGE_DIRECTORY: usize = 0x3000;
/// The stack grows down from here.
const CODE: usize = 0x8000;
/// The token, `struct Batch`, the page of a hypercall.
pub const DATA: usize = 0x9000;
/// What a mechanism puts behind, and the size of the smallest guest.
pub const REST: usize = 0xa000;
pub const SMALLEST: usize = 0x1_0000;
/// Mapped by the guest's page tables, covered by no memory of a smallest guest.
const NO_MEMORY: usize = 0x10_0000;
/// What one page directory maps.
pub const LARGEST: usize = 512 * LARGE_PAGE;
const LARGE_PAGE: usize = 2 << 20;

/// Count-down of the loops that leave: years of exits, and as a number of pages valid in a
/// hypercall.
const COUNT_DOWN: u64 = 1 << 40;

/// A machine. The order of the fields is that of their end: the processor goes before the machine,
/// the machine before its memory.
pub struct Machine {
    vcpu: VcpuFd,
    _vm: VmFd,
    pub memory: Arc<Memory>,
}

impl Machine {
    /// A machine that will begin at `entry`.
    pub fn new(entry: Entry, ring: Ring, mut memory: Memory) -> Result<Self, Refusal> {
        let kvm = kvm()?;
        memory.copy(CODE, guest::code());
        map_pages(&memory);
        let vm = kvm.create_vm().map_err(|error| refused("no virtual machine", error))?;
        let region = kvm_userspace_memory_region {
            slot: 0,
            flags: 0,
            guest_phys_addr: 0,
            memory_size: memory.bytes() as u64,
            userspace_addr: memory.host_address() as u64,
        };
        // SAFETY: the memory is mapped, and stays so until the machine is gone (order of the
        // fields).
        unsafe { vm.set_user_memory_region(region) }.map_err(|error| refused("no memory for a machine", error))?;
        if matches!(entry, Entry::Vmcall | Entry::Vmmcall) {
            let mut cap = kvm_enable_cap { cap: KVM_CAP_EXIT_HYPERCALL, ..Default::default() };
            cap.args[0] = 1 << HYPERCALL_MAP_GPA_RANGE;
            vm.enable_cap(&cap).map_err(|error| refused("hypercalls cannot be handed to the process", error))?;
        }
        let vcpu = vm.create_vcpu(0).map_err(|error| refused("no processor for a machine", error))?;
        // Before the control registers: bits of CR4 are allowed or not by what CPUID says.
        vcpu.set_cpuid2(cpuid()?).map_err(|error| refused("CPUID of a guest", error))?;
        let segments = vcpu.get_sregs().map_err(|error| refused("segments of a guest", error))?;
        vcpu.set_sregs(&in_long_mode(segments, ring)).map_err(|error| refused("segments of a guest", error))?;
        vcpu.set_regs(&registers(entry, ring)).map_err(|error| refused("registers of a guest", error))?;
        Ok(Self { vcpu, _vm: vm, memory: Arc::new(memory) })
    }

    /// Enters the guest and comes back when it leaves as expected.
    #[inline(always)]
    pub fn turn(&mut self, expected: Exit) -> Result<(), Stop> {
        loop {
            match self.vcpu.run() {
                Ok(VcpuExit::IoOut(PORT, _)) if expected == Exit::Port => return Ok(()),
                Ok(VcpuExit::Hlt) if expected == Exit::Halt => return Ok(()),
                Ok(VcpuExit::MmioWrite(..)) if expected == Exit::Memory => return Ok(()),
                Ok(VcpuExit::Hypercall(call)) if expected == Exit::Hypercall => {
                    *call.ret = HYPERCALL_MAP_GPA_RANGE;
                    return Ok(());
                }
                Ok(other) => return Err(Stop::Unexpected(format!("{other:?}"))),
                Err(error) => self.interrupted(error)?,
            }
        }
    }

    /// A signal that is none of the watchdog's (a debugger, SIGCONT) changes nothing.
    #[cold]
    fn interrupted(&mut self, error: kvm_ioctls::Error) -> Result<(), Stop> {
        match error.errno() {
            libc::EINTR | libc::EAGAIN if self.vcpu.get_kvm_run().immediate_exit == 0 => Ok(()),
            libc::EINTR => Err(Stop::Stuck),
            _ => Err(Stop::Unexpected(format!("KVM_RUN: {error}"))),
        }
    }

    /// Lets the watchdog's signal, should it come to this thread, keep this guest from being
    /// entered.
    pub fn watched<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let flag = &raw mut self.vcpu.get_kvm_run().immediate_exit;
        watchdog::set_flag_of_this_thread(flag);
        let outcome = work(self);
        watchdog::set_flag_of_this_thread(std::ptr::null_mut());
        outcome
    }

    /// How often the loop of a guest has been round. A guest that has left stands before its
    /// `loop`.
    pub fn turns(&self) -> Result<u64, Stop> {
        let registers = self.vcpu.get_regs().map_err(|error| Stop::Unexpected(format!("KVM_GET_REGS: {error}")))?;
        Ok(COUNT_DOWN - registers.rcx)
    }

    /// Before the first entry: for an entry that wants something in a register of its own.
    pub fn set_registers(&mut self, change: impl FnOnce(&mut kvm_regs)) -> Result<(), Refusal> {
        let mut registers = self.vcpu.get_regs().map_err(|error| refused("registers of a guest", error))?;
        change(&mut registers);
        self.vcpu.set_regs(&registers).map_err(|error| refused("registers of a guest", error))
    }
}

/// Address of an entry in the guest.
pub fn guest_address(entry: Entry) -> usize {
    entry.address(Some(CODE))
}

/// Asked once: the question alone costs more than a machine (0.6 ms here).
fn cpuid() -> Result<&'static CpuId, Refusal> {
    static CPUID: OnceLock<Result<CpuId, Refusal>> = OnceLock::new();
    let ask = || {
        let answer = kvm()?.get_supported_cpuid(KVM_MAX_CPUID_ENTRIES);
        answer.map_err(|error| refused("CPUID that KVM supports", error))
    };
    CPUID.get_or_init(ask).as_ref().map_err(Clone::clone)
}

/// Large pages, usable from ring 3, as many as the memory needs and one at least.
fn map_pages(memory: &Memory) {
    const PRESENT_WRITABLE_USER: u64 = 7;
    const LARGE: u64 = 0x80;
    memory.word(PAGE_MAP).store(PAGE_POINTERS as u64 | PRESENT_WRITABLE_USER, Relaxed);
    memory.word(PAGE_POINTERS).store(PAGE_DIRECTORY as u64 | PRESENT_WRITABLE_USER, Relaxed);
    for page in 0..memory.bytes().div_ceil(LARGE_PAGE) {
        let entry = (page * LARGE_PAGE) as u64 | PRESENT_WRITABLE_USER | LARGE;
        memory.word(PAGE_DIRECTORY + 8 * page).store(entry, Relaxed);
    }
}

fn in_long_mode(mut sregs: kvm_sregs, ring: Ring) -> kvm_sregs {
    const CR0: u64 = 0x8005_0033; // paging, alignment mask, write protect, numeric error, extension type, monitor, protection
    const CR4: u64 = 0x620; // SSE and its exceptions, physical address extension
    const EFER: u64 = 0x500; // long mode enabled and active
    let dpl = if ring == Ring::User { 3 } else { 0 };
    let flat = kvm_segment { limit: u32::MAX, present: 1, s: 1, g: 1, dpl, ..Default::default() };
    let (code_selector, data_selector) = if ring == Ring::User { (0x33, 0x2b) } else { (0x08, 0x10) };
    // Types: 11 = code, readable, accessed; 3 = data, writable, accessed.
    sregs.cs = kvm_segment { selector: code_selector, type_: 11, l: 1, ..flat };
    let data = kvm_segment { selector: data_selector, type_: 3, db: 1, ..flat };
    (sregs.ds, sregs.es, sregs.fs, sregs.gs, sregs.ss) = (data, data, data, data, data);
    // VMX wants a busy 64-bit task state segment (type 11) where it finds none.
    sregs.tr = kvm_segment { limit: 0xffff, type_: 11, present: 1, ..Default::default() };
    (sregs.cr0, sregs.cr3, sregs.cr4, sregs.efer) = (CR0, PAGE_MAP as u64, CR4, EFER);
    sregs
}

fn registers(entry: Entry, ring: Ring) -> kvm_regs {
    const ALWAYS_ONE: u64 = 2;
    const PORTS_FROM_RING_3: u64 = 0x3000;
    kvm_regs {
        rip: guest_address(entry) as u64,
        rsp: CODE as u64,
        rflags: ALWAYS_ONE | if ring == Ring::User { PORTS_FROM_RING_3 } else { 0 },
        rax: HYPERCALL_MAP_GPA_RANGE,
        rbx: DATA as u64,
        rcx: COUNT_DOWN,
        rdx: u64::from(PORT),
        rdi: NO_MEMORY as u64,
        r14: DATA as u64,
        ..Default::default()
    }
}
