//! Two costs on the log scale: by how much do they differ, and what could have been seen?

use crate::interval::{FEWEST, Interval, median_interval};
use crate::{quantile, sorted};
use statrs::distribution::{ContinuousCDF as _, Normal};

/// Ends of intervals are sums and differences of logarithms; nothing closer than this is
/// distinguished.
const ROUNDING: f64 = 1e-9;

/// Normal quantiles 0.95 ÷ 0.975: from half the width of a 95 % interval to what an estimate stays
/// above in 95 of 100 cases; times √2, for the difference of two things that scatter alike.
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

    /// With what scatters between runs and shows within none of them, by its standard deviation:
    /// its half-width at this level joins that of each side of the interval, as independent errors
    /// do.
    #[must_use]
    pub fn with_component(self, deviation: f64, confidence: f64) -> Self {
        let more = half_width(deviation, confidence);
        let wider = |interval: Interval| Interval {
            low: self.centre - (self.centre - interval.low).hypot(more),
            high: self.centre + (interval.high - self.centre).hypot(more),
        };
        Self { interval: self.interval.map(wider), ..self }
    }

    /// Whether or not this much is taken off: the interval holds both answers.
    #[must_use]
    pub fn or_less(self, off: f64) -> Self {
        let wider = |interval: Interval| Interval {
            low: interval.low.min(interval.low - off),
            high: interval.high.max(interval.high - off),
        };
        Self { interval: self.interval.map(wider), ..self }
    }

    /// The same interval for another estimate of the same, which it then holds.
    #[must_use]
    pub fn about(self, centre: f64) -> Self {
        let holding = |interval: Interval| Interval { low: interval.low.min(centre), high: interval.high.max(centre) };
        Self { centre, interval: self.interval.map(holding) }
    }

    /// How far from 0 the interval reaches.
    #[must_use]
    pub fn reach(&self) -> Option<f64> {
        self.interval.map(|interval| interval.low.abs().max(interval.high.abs()))
    }

    /// The smallest true difference that data with this interval shows in 95 of 100 cases.
    ///
    /// A difference δ is shown when the estimate exceeds both the half-width h and the noise floor.
    /// The estimate scatters about δ with σ ≈ h ÷ 1.96, and the floor, being measured by as many
    /// rounds, about its own middle likewise: the estimate stays above the floor in 95 % of cases
    /// if δ is 1.645 √2 σ above it. Hence δ = max(h, floor) + 1.19 h. At the higher levels of
    /// corrected intervals σ is smaller than that, and the answer errs on the safe side.
    #[must_use]
    pub fn detectable(&self, floor: f64) -> Option<f64> {
        self.interval.map(|interval| {
            let half = (interval.high - interval.low) / 2.0;
            half.max(floor) + POWER * half
        })
    }
}

/// Half the width of the interval at this level of something normal with this standard deviation;
/// infinite at a level that is none.
#[must_use]
pub fn half_width(deviation: f64, confidence: f64) -> f64 {
    let share = f64::midpoint(1.0, confidence);
    if (0.0..=1.0).contains(&share) { deviation * Normal::standard().inverse_cdf(share) } else { f64::INFINITY }
}

/// Median of the log-ratios of pairs, with its interval.
///
/// Pairs are what was measured in one round: whatever changes from round to round and touches both
/// sides alike cancels out. The interval is that of [`median_interval`]: the sign test turned
/// round, interpolated between its levels, no assumption about the form of the noise.
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
    fn an_interval_holds_the_estimate_that_it_is_about() {
        let ratio = LogRatio { centre: 0.1, interval: Some(Interval { low: 0.07, high: 0.13 }) };
        assert_eq!(ratio.about(0.09), LogRatio { centre: 0.09, ..ratio });
        assert_eq!(ratio.about(0.2).interval, Some(Interval { low: 0.07, high: 0.2 }));
        assert_eq!(LogRatio { interval: None, ..ratio }.about(0.2).interval, None);
    }

    #[test]
    fn what_may_be_taken_off_is_held_both_ways() {
        let ratio = LogRatio { centre: 0.1, interval: Some(Interval { low: 0.07, high: 0.13 }) };
        assert_eq!(ratio.or_less(0.08).interval, Some(Interval { low: 0.07 - 0.08, high: 0.13 }));
        assert_eq!(ratio.or_less(-0.08).interval, Some(Interval { low: 0.07, high: 0.13 + 0.08 }));
        assert!(ratio.excludes_zero() && !ratio.or_less(0.08).excludes_zero());
        assert_eq!(ratio.or_less(0.0), ratio);
    }

    #[test]
    fn a_component_between_runs_joins_as_independent_errors_do() {
        // Tables: 1.959964 standard deviations at 95 %, 2.575829 at 99 %.
        assert!(
            (half_width(0.01, 0.95) - 0.019_599_64).abs() < 1e-8 && (half_width(1.0, 0.99) - 2.575_829).abs() < 1e-6
        );
        let narrow = LogRatio { centre: 0.1, interval: Some(Interval { low: 0.07, high: 0.13 }) };
        let wide = narrow.with_component(0.04 / 1.959_964, 0.95).interval.unwrap();
        assert!((wide.low - 0.05).abs() < 1e-6 && (wide.high - 0.15).abs() < 1e-6, "{wide:?}");
        let same = narrow.with_component(0.0, 0.95).interval.unwrap();
        assert!((same.low - 0.07).abs() < 1e-12 && (same.high - 0.13).abs() < 1e-12, "{same:?}");
        assert_eq!(LogRatio { interval: None, ..narrow }.with_component(1.0, 0.95).interval, None);
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
