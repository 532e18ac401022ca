//! By how much does one sample lie above another, when both are small?

use crate::{Interval, LogRatio, median, sorted};

/// Difference of location of two independent samples (b − a): the median of all pairwise
/// differences (Hodges & Lehmann 1963), with the interval that the exact rank-sum test leaves
/// (Moses; Hollander & Wolfe, "Nonparametric Statistical Methods", section 4.3).
///
/// It needs fewer values than the bootstrap of medians, but supposes that the samples differ in
/// their level only. No interval where not even complete separation reaches the level.
#[must_use]
pub fn shift(a: &[f64], b: &[f64], confidence: f64) -> Option<LogRatio> {
    let differences = sorted(&a.iter().flat_map(|x| b.iter().map(move |y| y - x)).collect::<Vec<_>>());
    let centre = median(&differences)?;
    let interval = outer_ranks(a.len(), b.len(), confidence)
        .filter(|skipped| 2 * skipped < differences.len()) // or it is a level below any
        .map(|skipped| Interval { low: differences[skipped], high: differences[differences.len() - 1 - skipped] });
    Some(LogRatio { centre, interval })
}

/// How many of the sorted differences lie outside the interval at each end; None if the level is
/// out of reach.
fn outer_ranks(n: usize, m: usize, confidence: f64) -> Option<usize> {
    let ways = rank_sums(n, m);
    let total: f64 = ways.iter().sum();
    let tail = (1.0 - confidence) / 2.0;
    let mut below = 0.0;
    let fitting = ways.iter().take_while(|count| {
        below += *count / total;
        below <= tail
    });
    fitting.count().checked_sub(1)
}

/// Number of orders of n and m values for each value of the rank-sum statistic U = 0 … n m:
/// coefficients of the Gaussian binomial.
fn rank_sums(n: usize, m: usize) -> Vec<f64> {
    let size = n * m + 1;
    let mut ways = vec![0.0; size];
    ways[0] = 1.0;
    for i in 1..=n {
        // × (1 − q^(m + i)) ÷ (1 − q^i)
        for u in (m + i..size).rev() {
            ways[u] -= ways[u - m - i];
        }
        for u in i..size {
            ways[u] += ways[u - i];
        }
    }
    ways
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn rank_sums_as_tabulated() {
        assert_eq!(rank_sums(2, 2), [1.0, 1.0, 2.0, 1.0, 1.0]);
        assert_eq!(rank_sums(5, 5).iter().sum::<f64>(), 252.0);
        // Critical values of U, two-sided 5 %: 2 for 5 and 5, 0 for 2 and 8; none for 3 and 3. 50
        // and 50: by the normal approximation 1250 − 1.96 · 145 = 966; large counts lose no digits
        // that matter.
        assert!((960..970).contains(&outer_ranks(50, 50, 0.95).unwrap()));
        assert_eq!(
            (outer_ranks(5, 5, 0.95), outer_ranks(2, 8, 0.95), outer_ranks(3, 3, 0.95)),
            (Some(2), Some(0), None)
        );
    }

    #[test]
    fn a_shift_is_estimated() {
        let (a, b) = ([1.0, 1.1, 0.9, 1.05], [2.0, 2.1, 1.9, 2.05]);
        let found = shift(&a, &b, 0.95).unwrap();
        let interval = found.interval.unwrap();
        assert!((found.centre - 1.0).abs() < 1e-9 && interval.low > 0.7 && interval.high < 1.3, "{found:?}");
        assert_eq!(shift(&a[..2], &b[..2], 0.95).unwrap().interval, None);
        assert_eq!(shift(&[], &b, 0.95), None);
    }

    proptest! {
        #[test]
        fn sides_exchanged_give_the_mirror_image(
            a in proptest::collection::vec(-1.0..1.0f64, 4..9), b in proptest::collection::vec(-1.0..1.0f64, 4..9)
        ) {
            let (one, other) = (shift(&a, &b, 0.95).unwrap(), shift(&b, &a, 0.95).unwrap());
            prop_assert!((one.centre + other.centre).abs() < 1e-12);
            if let (Some(one), Some(other)) = (one.interval, other.interval) {
                prop_assert!((one.low + other.high).abs() < 1e-12 && one.low <= one.high);
            }
        }
    }
}
