//! Location and spread.

/// MAD of a normal distribution × this is its standard deviation.
pub const SIGMAS: f64 = 1.4826;

/// Standard error of the median of normal values ÷ that of their mean: √(π/2).
pub const OF_A_MEDIAN: f64 = 1.2533;

/// A sorted copy. Values must not be NaN (a NaN sorts last by `total_cmp`).
#[must_use]
pub fn sorted(values: &[f64]) -> Vec<f64> {
    let mut copy = values.to_vec();
    copy.sort_unstable_by(f64::total_cmp);
    copy
}

/// Quantile `p` (0 … 1) of sorted values: linear interpolation between order statistics at (n −
/// 1)p.
///
/// Hyndman & Fan 1996, definition 7, as in R, NumPy and Excel.
#[must_use]
pub fn quantile(sorted: &[f64], p: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let position = p.clamp(0.0, 1.0) * last as f64;
    let below = position.floor() as usize;
    let above = (below + 1).min(last);
    let fraction = position - below as f64;
    Some(sorted[below] + fraction * (sorted[above] - sorted[below]))
}

/// Median; mean of the two middle values when their number is even.
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    let mut copy = values.to_vec();
    let last = copy.len().checked_sub(1)?;
    // Those below the middle need no order among themselves.
    let (below, &mut above, _) = copy.select_nth_unstable_by(last.div_ceil(2), f64::total_cmp);
    let below = if last % 2 == 0 { above } else { below.iter().copied().max_by(f64::total_cmp)? };
    Some(below + 0.5 * (above - below))
}

/// The value, no further than `reach` from the centre; as it is where one of the two is not finite.
pub(crate) fn near(value: f64, centre: f64, reach: f64) -> f64 {
    let (low, high) = (centre - reach, centre + reach);
    if low <= high { value.clamp(low, high) } else { value }
}

/// Arithmetic mean.
#[must_use]
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Median absolute deviation from the median, unscaled (× [`SIGMAS`] it is the σ of a normal
/// distribution).
#[must_use]
pub fn mad(values: &[f64]) -> Option<f64> {
    let centre = median(values)?;
    let deviations: Vec<f64> = values.iter().map(|value| (value - centre).abs()).collect();
    median(&deviations)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reference_values() {
        // R: quantile(c(1, 2, 4, 8), c(.25, .5, .9)) gives 1.75 3.00 6.80
        let values = [1.0, 2.0, 4.0, 8.0];
        assert_eq!(quantile(&values, 0.25), Some(1.75));
        assert_eq!(quantile(&values, 0.5), Some(3.0));
        assert!((quantile(&values, 0.9).unwrap() - 6.8).abs() < 1e-12);
        // R: mad(c(1, 2, 4, 8), constant = 1) gives 1.5
        assert_eq!(mad(&values), Some(1.5));
        assert_eq!(mean(&values), Some(3.75));
        assert_eq!((median(&[]), mad(&[]), mean(&[]), quantile(&[], 0.5)), (None, None, None, None));
    }

    proptest! {
        #[test]
        fn the_median_lies_in_the_middle(values in proptest::collection::vec(-1e9..1e9f64, 1..50)) {
            let m = median(&values).unwrap();
            prop_assert_eq!(Some(m), quantile(&sorted(&values), 0.5));
            let half = values.len() as f64 / 2.0;
            prop_assert!(values.iter().filter(|v| **v < m).count() as f64 <= half);
            prop_assert!(values.iter().filter(|v| **v > m).count() as f64 <= half);
        }

        #[test]
        fn quantiles_grow(values in proptest::collection::vec(-1e9..1e9f64, 1..50), p in 0.0..1.0f64, q in 0.0..1.0f64) {
            let values = sorted(&values);
            let (low, high) = if p < q { (p, q) } else { (q, p) };
            prop_assert!(quantile(&values, low) <= quantile(&values, high));
        }
    }
}
