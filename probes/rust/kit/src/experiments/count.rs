//! Experiment count, section 9 of the protocol: nothing is timed. The host runs the probe under
//! callgrind, which counts what it executes, and the kit says where the units begin and end. A
//! batch is done in two stretches of different length, whose difference has neither the way into
//! the loop in it nor the way out.

use crate::evidence::Observed;
use crate::measure::Untimed;
use crate::mechanism::Workload;
use crate::refusal::Refusal;

/// The first stretch of a batch is one part of so many, the second all others.
const PARTS: u64 = 3;

/// Callgrind writes what it has counted since the last time, and begins anew (callgrind.h:
/// CALLGRIND_DUMP_STATS).
const WRITE: u64 = (b'C' as u64) << 24 | (b'T' as u64) << 16;

pub(crate) const COUNTED: Untimed = Untimed { quantity: "kernel_switches", parts: PARTS, check, batch };

/// What cannot be read must not be told as zero.
fn check() -> Result<(), Refusal> {
    let now = Observed::begin();
    now.kernel_since(&now).map(drop).map_err(|reason| Refusal::unsupported("unsupported_here", reason))
}

/// One batch; gives the kernel switches of all threads meanwhile, 0 where they are not told.
fn batch(workload: &mut dyn Workload, units: u64) -> u64 {
    let begin = Observed::begin();
    let first = units / PARTS;
    stretch(workload, first);
    stretch(workload, units - first);
    let kernel = Observed::end().kernel_since(&begin).ok();
    kernel.map_or(0, |kernel| kernel.voluntary + kernel.involuntary)
}

/// Never inlined: all stretches are the same code.
#[inline(never)]
fn stretch(workload: &mut dyn Workload, units: u64) {
    ask_valgrind(WRITE);
    workload.run(units);
    ask_valgrind(WRITE);
}

/// Asks valgrind, if this runs under it, for what `request` is (valgrind.h: the client request
/// mechanism).
#[inline(never)]
fn ask_valgrind(request: u64) {
    let arguments = [request, 0, 0, 0, 0, 0];
    // SAFETY: a CPU does nothing here: the rotations of the register add up to 128 bits, and the
    // last instruction moves a register to itself. Valgrind reads `arguments`, which live until
    // then, and writes its answer to the register that is named as written.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        core::arch::asm!(
            "rol rdi, 3", "rol rdi, 13", "rol rdi, 61", "rol rdi, 51", "xchg rbx, rbx",
            inlateout("rdx") 0_u64 => _, in("rax") arguments.as_ptr(), out("rdi") _, options(nostack)
        );
    }
    // SAFETY: as above.
    #[cfg(target_arch = "aarch64")]
    unsafe {
        core::arch::asm!(
            "ror x12, x12, #3", "ror x12, x12, #13", "ror x12, x12, #51", "ror x12, x12, #61", "orr x10, x10, x10",
            inlateout("x3") 0_u64 => _, in("x4") arguments.as_ptr(), options(nostack)
        );
    }
    std::hint::black_box(&arguments);
}
