//! `PROGRAM CPU SWITCHES_PER_BATCH BATCHES` prints the ns per switch of each batch, one a line.

use std::time::Instant;

/// Pins the process and returns switches of a batch and the number of batches.
pub fn begin() -> (u64, u64) {
    let numbers: Vec<u64> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let [cpu, switches, batches] = numbers[..] else { panic!("usage: PROGRAM CPU SWITCHES_PER_BATCH BATCHES") };
    let mut set = [0_u64; 8192 / 64]; // as many CPUs as Linux can have
    set[cpu as usize / 64] |= 1 << (cpu % 64);
    // SAFETY: the kernel reads as many bytes as the set has.
    let answer = unsafe { nix::libc::sched_setaffinity(0, size_of_val(&set), set.as_ptr().cast()) };
    assert_eq!(answer, 0, "CPU {cpu} is none that this process may use");
    (switches, batches)
}

/// Prints one batch.
pub fn batch_done(begin: Instant, switches: u64) {
    println!("{:.3}", begin.elapsed().as_nanos() as f64 / switches as f64);
}

/// Times batches of what is done with a number and a partner: two switches for each.
#[macro_export]
macro_rules! time_pairs {
    ($switches:expr, $batches:expr, |$token:pat_param| $pair:block) => {
        for _ in 0..$batches {
            let begin = std::time::Instant::now();
            for $token in 0..$switches / 2 $pair
            $crate::batch_done(begin, $switches);
        }
    };
}
