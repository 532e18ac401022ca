//! Means with intervals. Means add up: the mean of a sum is the sum of the means, which holds of no median.

use crate::{FEWEST, Interval, mean};

/// Normal quantile of a two-sided 95 % interval.
const NORMAL: f64 = 1.959_964;

/// Mean with its 95 % interval by Student's t; none with fewer than 6 values.
#[must_use]
pub fn mean_interval(values: &[f64]) -> Option<(f64, Option<Interval>)> {
    let centre = mean(values)?;
    let squares: f64 = values.iter().map(|value| (value - centre).powi(2)).sum();
    let (n, freedom) = (values.len() as f64, values.len() as f64 - 1.0);
    let interval = (values.len() >= FEWEST).then(|| {
        let half = student(freedom) * (squares / freedom / n).sqrt();
        Interval { low: centre - half, high: centre + half }
    });
    Some((centre, interval))
}

/// Mean of the first ÷ mean of the second of pairs, with its 95 % interval: that of a ratio estimator (Cochran, "Sampling Techniques", 1977,
/// chapter 6), from the spread of first − ratio × second, in which what both of a pair share cancels.
#[must_use]
pub fn ratio_of_means(pairs: &[(f64, f64)]) -> Option<(f64, Option<Interval>)> {
    let (above, below): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let (above, below) = (mean(&above)?, mean(&below)?);
    let ratio = above / below;
    let rest: Vec<f64> = pairs.iter().map(|(first, second)| ratio + (first - ratio * second) / below).collect();
    let (_, interval) = mean_interval(&rest)?;
    (below > 0.0).then_some((ratio, interval))
}

/// 97.5th percentile of Student's distribution: Abramowitz & Stegun 26.7.5, less than 0.2 % off from 5 degrees of freedom on.
fn student(freedom: f64) -> f64 {
    let z = NORMAL;
    let terms = [
        (z.powi(3) + z) / 4.0,
        (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0,
        (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0,
    ];
    terms.iter().rev().fold(0.0, |sum, term| (sum + term) / freedom) + z
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reference_values() {
        // R: qt(.975, c(5, 9, 39)) gives 2.570582 2.262157 2.022691
        for (freedom, exact) in [(5.0, 2.570_582), (9.0, 2.262_157), (39.0, 2.022_691)] {
            assert!((student(freedom) / exact - 1.0).abs() < 2e-3, "{freedom}: {}", student(freedom));
        }
        // R: t.test(1:10)$conf.int gives 3.334149 7.665851
        let values: Vec<f64> = (1..=10).map(f64::from).collect();
        let (centre, interval) = mean_interval(&values).unwrap();
        assert!((centre - 5.5).abs() < 1e-12 && (interval.unwrap().low - 3.334_149).abs() < 1e-3, "{interval:?}");
        assert_eq!(mean_interval(&values[..5]).unwrap().1, None);
        assert_eq!((mean_interval(&[]), ratio_of_means(&[]), ratio_of_means(&[(1.0, 0.0)])), (None, None, None));
    }

    /// Both drift by a factor of three, and the one is always 0.9 of the other.
    #[test]
    fn what_pairs_share_cancels() {
        let pairs: Vec<(f64, f64)> = (10..30).map(|ns| (0.9 * f64::from(ns), f64::from(ns))).collect();
        let (ratio, interval) = ratio_of_means(&pairs).unwrap();
        let interval = interval.unwrap();
        assert!((ratio - 0.9).abs() < 1e-12 && interval.high - interval.low < 1e-12, "{interval:?}");
    }

    /// The promise itself, with noise that is skewed as that of computers is: a floor, and exponential delays of a tenth on top.
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
