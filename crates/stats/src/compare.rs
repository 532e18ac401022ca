//! Two costs on the log scale: by how much do they differ, and what could have been seen?

use crate::{Interval, median_interval, quantile, sorted};

/// Ends of intervals are sums and differences of logarithms; nothing closer than this is distinguished.
const ROUNDING: f64 = 1e-9;

/// Rounds or invocations below which there is no 95 % interval.
pub const FEWEST: usize = 6;

/// Normal quantiles 0.95 ÷ 0.975: from half the width of a 95 % interval to what an estimate stays above in 95 of 100 cases; times √2, for the
/// difference of two things that scatter alike.
const POWER: f64 = 1.644_853_6 / 1.959_964 * std::f64::consts::SQRT_2;

/// A log-ratio with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogRatio {
    /// Estimate: ln(cost of B ÷ cost of A).
    pub centre: f64,
    /// Interval of it; None with fewer values than the level needs.
    pub interval: Option<Interval>,
}

impl LogRatio {
    /// The interval lies wholly above or wholly below 0: the costs differ.
    #[must_use]
    pub fn excludes_zero(&self) -> bool {
        self.interval.is_some_and(|interval| interval.low > ROUNDING || interval.high < -ROUNDING)
    }

    /// How far from 0 the interval reaches.
    #[must_use]
    pub fn reach(&self) -> Option<f64> {
        self.interval.map(|interval| interval.low.abs().max(interval.high.abs()))
    }

    /// The smallest true difference that data with this interval shows in 95 of 100 cases.
    ///
    /// A difference δ is shown when the estimate exceeds both the half-width h and the noise floor. The estimate scatters about δ with
    /// σ ≈ h ÷ 1.96, and the floor, being measured by as many rounds, about its own middle likewise: the estimate stays above the floor in 95 %
    /// of cases if δ is 1.645 √2 σ above it. Hence δ = max(h, floor) + 1.19 h. At the higher levels of corrected intervals σ is smaller than that, and
    /// the answer errs on the safe side.
    #[must_use]
    pub fn detectable(&self, floor: f64) -> Option<f64> {
        self.interval.map(|interval| {
            let half = (interval.high - interval.low) / 2.0;
            half.max(floor) + POWER * half
        })
    }
}

/// Median of the log-ratios of pairs, with its interval.
///
/// Pairs are what was measured in one round: whatever changes from round to round and touches both sides alike cancels out. The interval is
/// that of [`median_interval`]: the sign test turned round, interpolated between its levels, no assumption about the form of the noise.
#[must_use]
pub fn paired(log_ratios: &[f64], confidence: f64) -> Option<LogRatio> {
    let values = sorted(log_ratios);
    let interval = if values.len() < FEWEST { None } else { median_interval(&values, confidence) };
    Some(LogRatio { centre: quantile(&values, 0.5)?, interval })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_cancel_what_they_share() {
        let drift: Vec<f64> = (0..12).map(|round| 0.3 * f64::from(round)).collect();
        let ratios: Vec<f64> = drift.iter().map(|d| (d + 0.1) - d).collect();
        let estimate = paired(&ratios, 0.95).unwrap();
        assert!((estimate.centre - 0.1).abs() < 1e-12 && estimate.excludes_zero());
        assert!((estimate.reach().unwrap() - 0.1).abs() < 1e-12);
    }

    #[test]
    fn equal_values_do_not_differ_and_few_have_no_interval() {
        let equal = paired(&[0.0; 8], 0.95).unwrap();
        assert!(!equal.excludes_zero() && equal.detectable(0.02) == Some(0.02));
        let few = paired(&[0.5; 5], 0.5).unwrap();
        assert_eq!((few.centre, few.interval, few.detectable(0.1)), (0.5, None, None));
        assert_eq!(paired(&[], 0.95), None);
    }
}
