//! A percentile of single units, as starts have it.

use crate::at::At;
use switchcost_stats::{Interval, Shared, median, successive_median_interval};

/// Level of every interval.
pub(crate) const CONFIDENCE: f64 = 0.95;

/// The share of the longest unit.
pub const LONGEST: f64 = 1.0;

/// A percentile of single units, as starts have it.
#[derive(Debug, Clone, PartialEq)]
pub struct Percentile {
    /// Share of the units that stay at or below it; [`LONGEST`]: the longest of a start.
    pub share: f64,
    /// Median over the starts.
    pub value: f64,
    /// 95 % interval of it; None with fewer than 6 starts that carry it.
    pub interval: Option<Interval>,
    /// Units of the starts that carry it.
    pub units: u64,
    /// That of each start with its round.
    starts: Vec<(u64, f64)>,
}

/// The values of starts with their rounds.
pub(crate) fn in_time(starts: &[(u64, f64)]) -> Vec<f64> {
    starts.iter().map(|&(_, value)| value).collect()
}

impl Percentile {
    /// Of what starts of so many units in all have, each with its round; None without any.
    pub(crate) fn new(share: f64, units: u64, starts: Vec<(u64, f64)>) -> Option<Self> {
        Some(Self { share, value: median(&in_time(&starts))?, interval: None, units, starts })
    }

    /// `p99`, or `longest`.
    #[must_use]
    pub fn name(&self) -> String {
        if self.share == LONGEST { "longest".to_owned() } else { At::Percentile(self.share).to_string() }
    }

    /// Takes its interval from its starts, and from what all rows of the run share.
    pub(crate) fn settle(&mut self, shared: &Shared) {
        let shared = if self.share > 0.5 { shared.of_tails() } else { *shared };
        self.interval = successive_median_interval(&in_time(&self.starts), CONFIDENCE, &shared);
    }
}
