//! The clock of batches, the counter of `timing=each`, and the CPU of the calling thread.

use std::sync::OnceLock;
use std::time::Instant;

/// Ticks of the kit's clock are nanoseconds.
pub(crate) const TICKS_PER_SECOND: u64 = 1_000_000_000;

/// `Instant` reads this clock.
pub(crate) const CLOCK_NAME: &str = if cfg!(target_os = "linux") { "CLOCK_MONOTONIC" } else { "std::time::Instant" };

/// Nanoseconds since the first call, which must not be timed: it sets the origin.
#[must_use]
pub fn now() -> u64 {
    static ORIGIN: OnceLock<Instant> = OnceLock::new();
    let elapsed = ORIGIN.get_or_init(Instant::now).elapsed();
    elapsed.as_secs() * TICKS_PER_SECOND + u64::from(elapsed.subsec_nanos())
}

/// Mean of the quickest of some short rows of readings, rounded up.
pub(crate) fn clock_read_cost() -> u64 {
    const ROWS: u32 = 20;
    const READINGS: u64 = 100;
    let row = |_| {
        let begin = now();
        (0..READINGS).fold(begin, |_, _| now()) - begin
    };
    (0..ROWS).map(row).min().unwrap_or(0).div_ceil(READINGS)
}

/// Name of the cycle counter; None where there is none that user code can read.
pub const COUNTER_NAME: Option<&str> = if cfg!(target_arch = "x86_64") { Some("tsc") } else { None };

/// Reads the time stamp counter after everything before it has finished: RDTSC alone may run ahead,
/// LFENCE waits. RDTSCP would do the same, but is not on every x86-64 processor, and the Go probe
/// reads the same way.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
#[must_use]
pub fn read_counter() -> u64 {
    // SAFETY: LFENCE and RDTSC belong to the x86-64 baseline and touch no memory.
    unsafe {
        core::arch::x86_64::_mm_lfence();
        core::arch::x86_64::_rdtsc()
    }
}

/// Never called where `COUNTER_NAME` is None.
#[cfg(not(target_arch = "x86_64"))]
#[must_use]
pub fn read_counter() -> u64 {
    0
}
