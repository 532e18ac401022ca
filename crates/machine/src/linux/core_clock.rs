//! The clock of the core: a chain of multiplications, each of which waits for the one before, takes
//! so many cycles and no fewer.

use std::time::{Duration, Instant};

/// Multiplications of a piece: some 10 µs, beside which a reading of the clock is 0.3 %.
const STEPS: u64 = 10_000;

/// Cycles of a 64-bit multiplication: three on x86-64 of Intel since Nehalem and of AMD since Zen
/// (<https://uops.info>, IMUL R64, R64).
const CYCLES: u64 = 3;

/// Pieces; an interrupt lengthens one, and a sleeping core wakes in the first.
const PIECES: usize = 20;

/// Cycles in a second, of the CPU on which the caller runs; None: no instruction's cycles are known
/// here.
pub(crate) fn hz() -> Option<f64> {
    let best = (0..PIECES).filter_map(|_| piece()).min()?;
    Some((STEPS * CYCLES) as f64 / best.as_secs_f64())
}

#[cfg(target_arch = "x86_64")]
fn piece() -> Option<Duration> {
    let began = Instant::now();
    // SAFETY: it changes the two registers that are declared and the flags, and touches no memory.
    unsafe {
        std::arch::asm!(
            "2:",
            "imul {value}, {value}",
            "dec {steps}",
            "jnz 2b",
            value = inout(reg) 3_u64 => _,
            steps = inout(reg) STEPS => _,
            options(nomem, nostack),
        );
    }
    Some(began.elapsed())
}

#[cfg(not(target_arch = "x86_64"))]
fn piece() -> Option<Duration> {
    None
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_clock_is_one_that_cpus_have() {
        let hz = super::hz();
        assert_eq!(hz.is_some(), cfg!(target_arch = "x86_64"));
        assert!(hz.is_none_or(|hz| hz.is_finite() && hz > 1e6 && hz < 2e10), "{hz:?}");
    }
}
