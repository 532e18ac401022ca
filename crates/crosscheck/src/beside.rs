//! Two tools' figures for the same thing, taken in turns.

use switchcost_stats::{median, paired};

/// One tool beside another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Beside {
    /// Median of the first.
    pub first: f64,
    /// Median of the second.
    pub second: f64,
    /// First ÷ second: median of the ratios of the same round.
    pub ratio: f64,
    /// 95 % interval of the ratio; None with fewer than 6 rounds.
    pub interval: Option<(f64, f64)>,
    /// Rounds that hold both.
    pub rounds: usize,
}

/// Compares figures of the same rounds, all above 0. None: there is no round.
#[must_use]
pub fn beside(rounds: &[(f64, f64)]) -> Option<Beside> {
    let logs: Vec<f64> = rounds.iter().map(|(first, second)| (first / second).ln()).collect();
    let estimate = paired(&logs, 0.95)?;
    let side = |which: fn(&(f64, f64)) -> f64| median(&rounds.iter().map(which).collect::<Vec<_>>());
    Some(Beside {
        first: side(|round| round.0)?,
        second: side(|round| round.1)?,
        ratio: estimate.centre.exp(),
        interval: estimate.interval.map(|interval| (interval.low.exp(), interval.high.exp())),
        rounds: rounds.len(),
    })
}
