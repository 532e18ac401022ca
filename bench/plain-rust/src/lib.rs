//! `PROGRAM CPU SWITCHES_PER_BATCH BATCHES` prints the ns per switch of each batch, one a line.

use nix::sched::{sched_setaffinity, CpuSet};
use nix::unistd::Pid;
use std::time::Instant;

/// Pins the process and returns switches of a batch and the number of batches.
pub fn begin() -> (u64, u64) {
    let numbers: Vec<u64> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let [cpu, switches, batches] = numbers[..] else { panic!("usage: PROGRAM CPU SWITCHES_PER_BATCH BATCHES") };
    let mut set = CpuSet::new();
    set.set(cpu as usize).expect("a CPU number");
    sched_setaffinity(Pid::from_raw(0), &set).expect("a CPU this process may use");
    (switches, batches)
}

/// Prints one batch.
pub fn batch_done(begin: Instant, switches: u64) {
    println!("{:.3}", begin.elapsed().as_nanos() as f64 / switches as f64);
}
