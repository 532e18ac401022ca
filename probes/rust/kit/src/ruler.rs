//! Rulers: fixed pieces of work that have nothing to do with the mechanism. What they take right
//! before and right after a batch says how fast the machine was then, whatever the batch itself
//! says.

use crate::clock::now;
use crate::os::null_call;
use serde::ser::{Serialize, SerializeMap, Serializer};
use std::arch::asm;

/// Steps of a loop, and of each ruler about a microsecond.
const STEPS: usize = 512;

/// Cycles of the chain: a multiplication and an addition take four on today's x86-64. None:
/// unknown.
pub(crate) const CHAIN_CYCLES: Option<usize> = if cfg!(target_arch = "x86_64") { Some(4 * STEPS) } else { None };

/// Null system calls of a reading.
const CALLS: usize = 4;

/// Clock ticks of each ruler.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ruler {
    pub(crate) chain: u64,
    pub(crate) width: u64,
    pub(crate) calls: Option<u64>,
}

impl Ruler {
    /// Reads all of them once.
    pub(crate) fn read() -> Self {
        let begin = now();
        chain_of_cycles();
        let chain = now();
        width_of_core();
        let width = now();
        // The first calls after a batch find the kernel's code anywhere but in the nearest cache.
        null_calls();
        let warm = now();
        let calls = null_calls().map(|()| now() - warm);
        Self { chain: chain - begin, width: width - chain, calls }
    }

    /// The slower of two, each by itself.
    pub(crate) fn slower(self, other: Self) -> Self {
        Self {
            chain: self.chain.max(other.chain),
            width: self.width.max(other.width),
            calls: self.calls.max(other.calls),
        }
    }
}

/// Steps that each wait for the one before: only the clock's rate changes what they take.
#[inline(never)]
fn chain_of_cycles() {
    let mut value: u64 = 1;
    for _ in 0..STEPS {
        value = opaque(value.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407));
    }
}

/// Work of a mechanism's own: so many steps that each wait for the one before.
#[inline(always)]
pub fn work(mut product: u64, steps: u64) -> u64 {
    for _ in 0..steps {
        // A cycle, in one of rax, rbx, rcx, rdx: `lea` from rbp or r13, which a compiler may
        // choose, takes an offset and two cycles (EPYC; more on older Xeons).
        #[cfg(target_arch = "x86_64")]
        // SAFETY: counts in the register that it is given.
        unsafe {
            asm!("lea {0}, [{0} + {0} * 2]", inout(reg_abcd) product, options(nomem, nostack, preserves_flags));
        }
        #[cfg(not(target_arch = "x86_64"))]
        (product = opaque(product.wrapping_mul(3)));
    }
    product
}

/// Steps of which a core takes several per cycle: a neighbour on the same core takes its share of
/// them. The loop begins at a cache line: where it lay across two, a Xeon took 1.5 times as long
/// beside most batches and not beside some, which passed for a neighbour.
#[cfg(target_arch = "x86_64")]
#[inline(never)]
fn width_of_core() {
    // SAFETY: counts in registers that it is given, and touches neither memory nor stack.
    unsafe {
        asm!(
            ".p2align 6",
            "2:",
            "inc {a}", "inc {b}", "inc {c}", "inc {d}", "inc {e}", "inc {f}",
            "dec {steps}",
            "jnz 2b",
            a = inout(reg) 1_u64 => _, b = inout(reg) 2_u64 => _, c = inout(reg) 3_u64 => _,
            d = inout(reg) 4_u64 => _, e = inout(reg) 5_u64 => _, f = inout(reg) 6_u64 => _,
            steps = inout(reg) STEPS => _,
            options(nomem, nostack)
        );
    }
}

/// The same, wherever the compiler puts the loop.
#[cfg(not(target_arch = "x86_64"))]
#[inline(never)]
fn width_of_core() {
    let mut lanes = [1_u64, 2, 3, 4, 5, 6];
    for _ in 0..STEPS {
        lanes = lanes.map(|lane| opaque(lane.wrapping_add(1)));
    }
}

/// The same value, of which the compiler knows nothing any more: in its register, where `black_box`
/// takes it through memory.
#[inline(always)]
fn opaque(value: u64) -> u64 {
    let mut same = value;
    // SAFETY: no instruction; the register keeps what it holds. Not `pure`, or the loop would be
    // left out with its result.
    unsafe { asm!("/* {0} */", inout(reg) same, options(nomem, nostack, preserves_flags)) };
    same
}

/// None where no system call is known to do nothing.
fn null_calls() -> Option<()> {
    (0..CALLS).try_for_each(|_| null_call())
}

/// Readings of several batches, written as one list for each ruler.
#[derive(Debug)]
pub(crate) struct Rulers<'a>(pub(crate) &'a [Ruler]);

impl Serialize for Rulers<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("chain", &self.0.iter().map(|ruler| ruler.chain).collect::<Vec<_>>())?;
        map.serialize_entry("width", &self.0.iter().map(|ruler| ruler.width).collect::<Vec<_>>())?;
        if let Some(calls) = self.0.iter().map(|ruler| ruler.calls).collect::<Option<Vec<_>>>() {
            map.serialize_entry("calls", &calls)?;
        }
        map.end()
    }
}
