//! Does a sample fall into kinds?

use crate::{mean, median, sorted};

/// One kind of value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mode {
    /// Median of the values of this kind.
    pub value: f64,
    /// Share of all values.
    pub weight: f64,
}

/// Modes less than this share apart are one: nobody decides by it.
const LEAST_APART: f64 = 0.03;

/// Share of the values that a mode has, at least; fewer are outliers.
const LEAST_WEIGHT: f64 = 0.15;

/// Values in a mode, at least.
const FEWEST: usize = 2;

/// Number of values and the gap, in standard deviations within the two sides, that one value in a
/// hundred samples of one mode exceeds, where the logarithms are exponential: a tail heavier than
/// that of costs. Of normal and uniform ones it is exceeded in at most 3 of 1,000. By simulation;
/// `coverage.rs` counts it again.
const CRITICAL: [(usize, f64); 7] = [(6, 11.3), (8, 8.0), (10, 7.2), (15, 4.2), (20, 3.5), (30, 2.2), (40, 1.8)];

/// The modes of positive values, smallest first; empty where one mode explains them, or a value is
/// not positive or not finite.
///
/// The sorted logarithms are cut at the gap that is widest for the scatter on both sides of it. It
/// is a gap between modes if one mode would show it in one sample of a hundred at most; each side
/// is then cut again.
#[must_use]
pub fn modes(values: &[f64]) -> Vec<Mode> {
    if !values.iter().all(|value| *value > 0.0 && value.is_finite()) {
        return Vec::new();
    }
    let all = sorted(values);
    let mut found = Vec::new();
    let mut stretches = vec![(0, all.len())];
    let least = FEWEST.max((LEAST_WEIGHT * all.len() as f64).ceil() as usize);
    while let Some((from, to)) = stretches.pop() {
        match cut(&all[from..to], least) {
            Some(at) => stretches.extend([(from + at, to), (from, from + at)]),
            None => found.extend(
                median(&all[from..to]).map(|value| Mode { value, weight: (to - from) as f64 / all.len() as f64 }),
            ),
        }
    }
    if found.len() < 2 { Vec::new() } else { found }
}

/// Share of the scatter of all values (of the squares of their logarithms) that two modes explain,
/// at least. One normal, uniform or exponential mode cut in two explains 0.6 to 0.8 of it; outliers
/// explain more, but are fewer than a mode (docs/notebook/coverage.md).
const EXPLAINED: f64 = 0.9;

/// Share of the samples that must hold values of both modes, at least [`FEWEST`] of them; those of
/// all others lie in one mode or the other.
const MIXED: f64 = 0.1;

/// The two modes between which positive values go within single samples, the smaller first; empty
/// where there are none, or each sample is of one mode.
///
/// All values are cut where the two sides explain most of their scatter (Otsu, "A threshold
/// selection method from gray-level histograms", IEEE Transactions on Systems, Man, and Cybernetics
/// 9 (1979) 62–66). Values that are a mixture themselves, and lie between the modes, hide no mode
/// so.
#[must_use]
pub fn modes_within(samples: &[&[f64]]) -> Vec<Mode> {
    let all = sorted(&samples.concat());
    let (n, least) = (all.len(), (LEAST_WEIGHT * all.len() as f64).ceil() as usize);
    if least == 0 || !all.iter().all(|value| *value > 0.0 && value.is_finite()) {
        return Vec::new();
    }
    let sums = Sums::of(&all.iter().map(|value| value.ln()).collect::<Vec<_>>());
    let Some(at) = (least..=n - least).min_by(|a, b| sums.squares(*a).total_cmp(&sums.squares(*b))) else {
        return Vec::new();
    };
    let explained = sums.squares(at) <= (1.0 - EXPLAINED) * sums.squares(0);
    let mixed = samples.iter().filter(|sample| {
        let below = sample.iter().filter(|value| **value < all[at]).count();
        let fewest = FEWEST.max((LEAST_WEIGHT * sample.len() as f64).ceil() as usize);
        below.min(sample.len() - below) >= fewest
    });
    let mode = |values: &[f64]| Some(Mode { value: median(values)?, weight: values.len() as f64 / n as f64 });
    let found =
        mode(&all[..at]).zip(mode(&all[at..])).filter(|(low, high)| high.value > low.value * (1.0 + LEAST_APART));
    match found {
        Some((low, high)) if explained && mixed.count() >= FEWEST.max((MIXED * samples.len() as f64) as usize + 1) => {
            vec![low, high]
        }
        _ => Vec::new(),
    }
}

/// Where sorted values part into two kinds of at least `least` values each.
fn cut(values: &[f64], least: usize) -> Option<usize> {
    let n = values.len();
    let critical = critical(n)?;
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let sums = Sums::of(&logs);
    let gap = |at: usize| (logs[at] - logs[at - 1]) / sums.within(at).max(f64::MIN_POSITIVE);
    let places = least..=n.checked_sub(least)?;
    let at = places.max_by(|a, b| gap(*a).total_cmp(&gap(*b)))?;
    let apart = median(&logs[at..])? - median(&logs[..at])?;
    (gap(at) > critical && apart > LEAST_APART.ln_1p()).then_some(at)
}

/// Sums of the first values and of their squares: the scatter on both sides of every cut in one
/// pass.
struct Sums(Vec<(f64, f64)>);

impl Sums {
    fn of(values: &[f64]) -> Self {
        // Offsets from the middle keep the differences of squares exact enough.
        let centre = mean(values).unwrap_or_default();
        let mut sums = vec![(0.0, 0.0)];
        for value in values {
            let (offset, (sum, squares)) = (value - centre, sums[sums.len() - 1]);
            sums.push((sum + offset, squares + offset * offset));
        }
        Self(sums)
    }

    /// Standard deviation within the two sides of a cut, pooled.
    fn within(&self, at: usize) -> f64 {
        (self.squares(at) / (self.0.len() - 1).saturating_sub(2).max(1) as f64).sqrt()
    }

    /// Sum of the squares of the distances from the mean of their side; of all from their mean with
    /// a cut at 0.
    fn squares(&self, at: usize) -> f64 {
        let last = self.0.len() - 1;
        let squares = |from: usize, to: usize| {
            let (sum, squares) = (self.0[to].0 - self.0[from].0, self.0[to].1 - self.0[from].1);
            (squares - sum * sum / (to - from).max(1) as f64).max(0.0)
        };
        squares(0, at) + squares(at, last)
    }
}

/// Gap that as many values of one mode exceed in one sample of a hundred; None: too few values to
/// tell.
fn critical(n: usize) -> Option<f64> {
    let (last, tail) = CRITICAL[CRITICAL.len() - 1];
    if n >= last {
        return Some(tail);
    }
    CRITICAL.windows(2).find(|pair| (pair[0].0..pair[1].0).contains(&n)).map(|pair| {
        let share = (n - pair[0].0) as f64 / (pair[1].0 - pair[0].0) as f64;
        pair[0].1 + share * (pair[1].1 - pair[0].1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn kinds_of_starts_are_found_with_their_weights() {
        // stack/corosensei as published: 27 starts, 12 starts and one.
        let mut starts: Vec<f64> = (0..27).map(|i| 1.17 + 0.001 * f64::from(i)).collect();
        starts.extend((0..12).map(|i| 1.34 + 0.002 * f64::from(i)));
        starts.push(1.98);
        let found = modes(&starts);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!((found[0].value - 1.183).abs() < 1e-9 && (found[0].weight - 0.675).abs() < 1e-9, "{found:?}");
        let three: Vec<f64> = (0..30).map(|i| [1.0, 1.3, 26.0][i % 3] * (1.0 + 0.0001 * i as f64)).collect();
        assert_eq!(modes(&three).len(), 3);
    }

    #[test]
    fn outliers_and_small_differences_are_no_modes() {
        let mut quiet: Vec<f64> = (0..20).map(|i| 100.0 + f64::from(i * 7 % 20) * 0.05).collect();
        assert_eq!(modes(&quiet), []);
        quiet[3] = 900.0;
        assert_eq!(modes(&quiet), []);
        let near: Vec<f64> = (0..20).map(|i| 100.0 + 2.0 * f64::from(i % 2)).collect();
        assert_eq!(modes(&near), [], "2 % apart");
        assert_eq!(modes(&[1.0, 1.0, 1.0, 2.0, 2.0]), [], "too few");
        assert_eq!(modes(&[]), []);
        assert_eq!(modes(&[0.0; 10]), []);
    }

    #[test]
    fn what_lies_between_the_modes_hides_none() {
        // process/pipe where the scheduler places: batches of one kind, of the other, and of both.
        let batches = [930.0, 932.0, 935.0, 940.0, 6000.0, 24_000.0, 25_000.0, 26_000.0, 27_000.0, 28_000.0];
        let samples = vec![batches.to_vec(); 8];
        let samples: Vec<&[f64]> = samples.iter().map(Vec::as_slice).collect();
        let found = modes_within(&samples);
        assert_eq!(
            found.iter().map(|mode| (mode.value, mode.weight)).collect::<Vec<_>>(),
            [(933.5, 0.4), (25_500.0, 0.6)]
        );
        // Each of one mode, and one of both.
        let one_each: Vec<Vec<f64>> = (0..8).map(|i| vec![[930.0, 25_000.0][i % 2]; 10]).collect();
        let mut one_each: Vec<&[f64]> = one_each.iter().map(Vec::as_slice).collect();
        assert_eq!(modes_within(&one_each), []);
        one_each[0] = samples[0];
        assert_eq!(modes_within(&one_each), [], "one start in eight");
        one_each[1] = samples[1];
        assert_eq!(modes_within(&one_each).len(), 2);
        assert_eq!(modes_within(&[]), []);
        assert_eq!(modes_within(&[&[1.0], &[]]), []);
    }

    proptest! {
        #[test]
        fn neither_unit_nor_order_matters(
            mut values in proptest::collection::vec(prop_oneof![1.0..1.02f64, 2.0..2.04f64], 6..40), scale in 0.001..1000.0f64
        ) {
            let found = modes(&values);
            prop_assert!(found.is_empty() || (found.iter().map(|mode| mode.weight).sum::<f64>() - 1.0).abs() < 1e-9);
            values.reverse();
            values.iter_mut().for_each(|value| *value *= scale);
            prop_assert_eq!(modes(&values).len(), found.len());
        }
    }
}
