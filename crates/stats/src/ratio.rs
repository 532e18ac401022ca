//! Ratios of means. Means add up: the mean of a sum is the sum of the means, which holds of no
//! median.

use crate::{Interval, mean, mean_interval};

/// Mean of the first ÷ mean of the second of pairs, with its 95 % interval: that of a ratio
/// estimator (Cochran, "Sampling Techniques", 1977, chapter 6), from the spread of first − ratio ×
/// second, in which what both of a pair share cancels.
#[must_use]
pub fn ratio_of_means(pairs: &[(f64, f64)]) -> Option<(f64, Option<Interval>)> {
    let (above, below): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let (above, below) = (mean(&above)?, mean(&below)?);
    let ratio = above / below;
    let rest: Vec<f64> = pairs.iter().map(|(first, second)| ratio + (first - ratio * second) / below).collect();
    (below > 0.0).then(|| (ratio, mean_interval(&rest)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both drift by a factor of three, and the one is always 0.9 of the other.
    #[test]
    fn what_pairs_share_cancels() {
        let pairs: Vec<(f64, f64)> = (10..30).map(|ns| (0.9 * f64::from(ns), f64::from(ns))).collect();
        let (ratio, interval) = ratio_of_means(&pairs).unwrap();
        let interval = interval.unwrap();
        assert!((ratio - 0.9).abs() < 1e-12 && interval.high - interval.low < 1e-12, "{interval:?}");
    }

    /// The promise itself, with noise that is skewed as that of computers is: a floor, and
    /// exponential delays of a tenth on top.
    #[test]
    fn coverage_on_skewed_pairs() {
        let mut state = 7_u64;
        let mut noise = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            1.0 - 0.1 * (((state >> 11) as f64 + 0.5) / (1_u64 << 53) as f64).ln()
        };
        for n in [6, 10, 30] {
            let mut holds = || {
                let pairs: Vec<(f64, f64)> = (0..n).map(|_| (0.95 * noise(), noise())).collect();
                ratio_of_means(&pairs).unwrap().1.is_some_and(|i| (i.low..=i.high).contains(&0.95))
            };
            let share = (0..4000).filter(|_| holds()).count() as f64 / 4000.0;
            assert!((0.935..=0.975).contains(&share), "n = {n}: {share}");
        }
    }
}
