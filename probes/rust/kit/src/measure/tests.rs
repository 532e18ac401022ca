use super::*;
use crate::evidence::Turns;

/// Batches that last as long as a list says, and for ever no time when it is at its end.
struct Scripted {
    ticks: Vec<u64>,
    lengths: Vec<u64>,
}

impl Workload for Scripted {
    fn lap(&self) -> u64 {
        3
    }

    fn run(&mut self, units: u64) -> u64 {
        self.lengths.push(units);
        self.ticks.get(self.lengths.len() - 1).copied().unwrap_or(0)
    }

    fn reset(&mut self) {}

    fn claim(&mut self) -> Claim {
        Claim::new(Turns::default(), 0, false)
    }
}

/// What comes of the calibration, and how long its batches were.
fn calibrated(ticks: &[u64], batch_units: u64) -> (Result<u64, Refusal>, Vec<u64>) {
    let plan = Plan { batch_units, ..Plan::of_tests() };
    let mut workload = Scripted { ticks: ticks.to_vec(), lengths: Vec::new() };
    (calibrate(&plan, &mut workload, None), workload.lengths)
}

#[test]
fn three_batches_in_a_row_fix_k_and_the_first_counts() {
    assert_eq!(calibrated(&[100, 100, 100], 0), (Ok(3), vec![3, 3, 3]));
    // However long one is, it is one.
    assert_eq!(calibrated(&[99, 100_000, 99, 100, 100, 100], 0), (Ok(12), vec![3, 6, 6, 12, 12, 12]));
    assert_eq!(calibrated(&[], 7), (Ok(9), vec![]));
}

#[test]
fn a_clock_that_stands_still_ends_the_calibration() {
    let (outcome, lengths) = calibrated(&[], 0);
    let refusal = outcome.unwrap_err();
    assert_eq!((refusal.status, refusal.code), ("unsupported", "limit_reached"), "{refusal}");
    assert!(lengths.iter().all(|&units| units <= MOST_UNITS) && lengths.len() > 30);
}
