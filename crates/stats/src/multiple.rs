//! Several comparisons at once.

use crate::highest_confidence;

/// Level that each of so many intervals needs so that all of them hold together with `confidence`
/// (Bonferroni).
///
/// Holm's step-down procedure rejects a little more often, but it corrects tests, not intervals: it
/// leaves "same within x %", which rests on a whole interval, unprotected. Here every word of a
/// table of verdicts is covered: the chance that any of them is wrong is at most 1 − `confidence`.
#[must_use]
pub fn each_of(count: usize, confidence: f64) -> f64 {
    1.0 - (1.0 - confidence) / count.max(1) as f64
}

/// Rounds that a paired comparison needs at this level: the widest interval of the sign test
/// reaches 1 − 2^(1 − n).
#[must_use]
pub fn fewest_pairs(confidence: f64) -> usize {
    (6..=1100).find(|&n| 1.0 - 2_f64.powi(1 - n) >= confidence).map_or(1100, |n| n as usize)
}

/// Invocations that each side of an unpaired comparison needs at this level.
#[must_use]
pub fn fewest_each(confidence: f64) -> usize {
    (6..500).find(|&n| highest_confidence(n, n) >= confidence).unwrap_or(500)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_more_comparisons_the_higher_the_level() {
        assert_eq!(each_of(1, 0.95), 0.95);
        assert_eq!(each_of(0, 0.95), 0.95);
        assert!((each_of(10, 0.95) - 0.995).abs() < 1e-12);
    }

    #[test]
    fn rounds_that_levels_need() {
        // 2^−5 = 3.1 %, 2^−9 = 0.195 %
        assert_eq!((fewest_pairs(0.95), fewest_pairs(0.99), fewest_pairs(0.998)), (6, 8, 10));
        assert_eq!((fewest_each(0.95), fewest_each(0.998)), (6, 7));
        let values: Vec<f64> = (0..12).map(f64::from).collect();
        let level = each_of(100, 0.95);
        assert_eq!(fewest_pairs(level), 12);
        assert!(crate::median_interval(&values, level).is_some());
        assert!(crate::median_interval(&values[1..], level).is_none());
    }
}
