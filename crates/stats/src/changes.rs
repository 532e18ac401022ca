//! Where does a series change its level?
//!
//! E-divisive (Matteson & James, "A nonparametric approach for multiple change point analysis of
//! multivariate data", Journal of the American Statistical Association 109 (2014) 334–345), as
//! performance histories elsewhere use it (Daly et al., "The use of change point detection to
//! identify software performance regressions in a continuous integration system", ICPE 2020). The
//! best place to cut a stretch is where the energy distance between both sides, weighted by their
//! sizes, is largest. Whether it is a cut at all is asked of permutations: without change and drift
//! the values are exchangeable, so the share of orders that cut at least as well is an exact level,
//! whatever the distribution. Each side is then searched in turn. Of these cuts those remain that
//! drift does not make (`drift`): the least sure goes first, and the stretch between its neighbours
//! is one again.

use crate::drift::{Drift, autocorrelation};
use crate::location::near;
use crate::random::Random;

/// Values on each side of a cut, at least: one value alone is an outlier, not a level.
pub const SHORTEST: usize = 2;

/// Random orders that a cut is held against, at least.
const ORDERS: usize = 999;

/// Drifting series that a cut is held against, at least.
const DRAWS: usize = 3999;

/// A change of level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// Index of the first value of the new level.
    pub at: usize,
    /// The greater of two shares: of random orders of the stretch that can be cut at least as well,
    /// and of drifting series with a step as strong.
    pub p: f64,
}

/// The levels of a series.
#[derive(Debug, Clone, PartialEq)]
pub struct Levels {
    /// Changes in order of time.
    pub changes: Vec<Change>,
    /// Cuts that are too good for random orders, but not for drift.
    pub undecided: usize,
    /// Correlation of values with their successors, about these levels; None where nothing varies.
    pub autocorrelation: Option<f64>,
}

/// Searches series for changes.
#[derive(Debug, Clone)]
pub struct Search {
    level: f64,
    orders: usize,
    drift: Drift,
}

impl Search {
    /// The chance of finding any change in a series that has none is at most `level`.
    #[must_use]
    pub fn new(level: f64) -> Self {
        // Enough orders to reach far below the level, or one lucky order would decide.
        let orders = ORDERS.max((20.0 / level).ceil() as usize - 1);
        Self { level, orders, drift: Drift::new(orders.max(DRAWS)) }
    }

    /// The levels of these values. The same series gives the same answer: what is random comes from
    /// fixed seeds.
    pub fn levels(&mut self, values: &[f64]) -> Levels {
        let mut changes = self.cuts(values);
        let found = changes.len();
        loop {
            let ends: Vec<usize> =
                [0].into_iter().chain(changes.iter().map(|change| change.at)).chain([values.len()]).collect();
            let of_drift: Vec<f64> =
                ends.windows(3).map(|ends| self.drift.p(&values[ends[0]..ends[2]], SHORTEST)).collect();
            match of_drift.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)) {
                Some((weakest, p)) if *p > self.level => {
                    changes.remove(weakest);
                }
                _ => {
                    changes.iter_mut().zip(of_drift).for_each(|(change, p)| change.p = change.p.max(p));
                    let autocorrelation = autocorrelation(values, &ends);
                    return Levels { undecided: found - changes.len(), changes, autocorrelation };
                }
            }
        }
    }

    /// What permutations find, in order of time.
    fn cuts(&self, values: &[f64]) -> Vec<Change> {
        let mut found = Vec::new();
        let mut stretches = vec![(0, values.len())];
        while let Some((from, to)) = stretches.pop() {
            if let Some(change) = strongest(&values[from..to], self.level, self.orders) {
                let at = from + change.at;
                found.push(Change { at, ..change });
                stretches.extend([(from, at), (at, to)]);
            }
        }
        found.sort_unstable_by_key(|change| change.at);
        found
    }
}

/// Fewest values in which a change could show at this level: half of them on each side, and of all
/// ways to choose a half only it and its mirror image cut as well.
#[must_use]
pub fn fewest_for_change(level: f64) -> usize {
    (2 * SHORTEST..200).find(|&n| crate::highest_confidence(n / 2, n - n / 2) >= 1.0 - level).unwrap_or(200)
}

fn strongest(values: &[f64], level: f64, orders: usize) -> Option<Change> {
    let n = values.len();
    if n < fewest_for_change(level) {
        return None;
    }
    let mut values = clamped(values);
    let total: f64 = values.iter().enumerate().map(|(i, value)| distances(*value, &values[..i])).sum();
    let (at, strength) = best_cut(&values, total);
    if strength <= 0.0 {
        return None;
    }
    // One too many that reach it, and the level is missed: no need to go on.
    let most = (level * (orders + 1) as f64).floor() as usize;
    let mut random = Random(n as u64);
    let mut reached = 1;
    for _ in 0..orders {
        random.shuffle(&mut values);
        reached += usize::from(best_cut(&values, total).1 >= strength * (1.0 - 1e-9));
        if reached > most {
            return None;
        }
    }
    Some(Change { at, p: reached as f64 / (orders + 1) as f64 })
}

/// Values no further from their median than 5 MAD: how far out an outlier lies must not decide. The
/// order plays no part in it, so the level stays exact.
fn clamped(values: &[f64]) -> Vec<f64> {
    match (crate::median(values), crate::mad(values)) {
        (Some(centre), Some(mad)) if mad > 0.0 => values.iter().map(|value| near(*value, centre, 5.0 * mad)).collect(),
        _ => values.to_vec(),
    }
}

fn distances(from: f64, to: &[f64]) -> f64 {
    to.iter().map(|value| (value - from).abs()).sum()
}

/// The best place to cut the values, and how well it cuts; `total` is the sum of the distances
/// between all of them.
fn best_cut(values: &[f64], total: f64) -> (usize, f64) {
    let n = values.len();
    // Sums of distances within the left side, within the right side, and between them; one value at
    // a time goes over.
    let (mut left, mut between, mut right) = (0.0, 0.0, total);
    let mut best = (0, 0.0);
    for cut in 1..=n - SHORTEST {
        let moved = values[cut - 1];
        let (to_left, to_right) = (distances(moved, &values[..cut - 1]), distances(moved, &values[cut..]));
        left += to_left;
        right -= to_right;
        between += to_right - to_left;
        if cut >= SHORTEST {
            let (a, b) = (cut as f64, (n - cut) as f64);
            let energy = 2.0 * between / (a * b) - 2.0 * left / (a * (a - 1.0)) - 2.0 * right / (b * (b - 1.0));
            let strength = energy * a * b / (a + b);
            if strength > best.1 {
                best = (cut, strength);
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn changes(values: &[f64], level: f64) -> Vec<Change> {
        Search::new(level).levels(values).changes
    }

    #[test]
    fn a_step_is_found_where_it_is() {
        let steps: Vec<f64> = (0..30).map(|i| f64::from(i / 10) + 0.01 * f64::from(i * 7 % 5)).collect();
        let found: Vec<usize> = changes(&steps, 0.05).iter().map(|change| change.at).collect();
        assert_eq!(found, [10, 20]);
    }

    #[test]
    fn neither_a_constant_nor_an_outlier_nor_few_values_are_a_change() {
        assert_eq!(changes(&[1.0; 40], 0.05), []);
        let mut outlier: Vec<f64> = (0..40).map(|i| f64::from(i * 7 % 5)).collect();
        outlier[17] = 1000.0;
        assert_eq!(changes(&outlier, 0.05), []);
        assert_eq!(fewest_for_change(0.05), 8); // 2 ÷ C(8, 4) = 2.9 %, 2 ÷ C(7, 3) = 5.7 %
        assert_eq!(changes(&[0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0], 0.05), []);
        assert_eq!(changes(&[], 0.05), []);
        assert_eq!(changes(&[0.0, 0.1, 0.05, 0.02, 1.0, 1.1, 1.05, 1.02], 0.05)[0].at, 4);
    }

    /// A random walk has steps for permutations, and none beyond drift. Its neighbours are alike,
    /// those of a step are not.
    #[test]
    fn drift_is_not_a_change() {
        let mut random = Random(3);
        let walk: Vec<f64> = (0..40)
            .scan(0.0, |at, _| {
                *at = 0.7 * *at + random.normal();
                Some(*at)
            })
            .collect();
        let levels = Search::new(0.05).levels(&walk);
        assert!(levels.changes.is_empty() && levels.undecided > 0 && levels.autocorrelation > Some(0.3), "{levels:?}");
        let bump: Vec<f64> = (0..30).map(|i| random.normal() + if (10..20).contains(&i) { 9.0 } else { 0.0 }).collect();
        let levels = Search::new(0.05).levels(&bump);
        let places: Vec<usize> = levels.changes.iter().map(|change| change.at).collect();
        assert_eq!((places, levels.undecided), (vec![10, 20], 0));
        assert!(levels.autocorrelation < Some(0.3), "{levels:?}");
    }

    /// The sums that go over one by one are those of the definition.
    #[test]
    fn the_energy_is_that_of_the_definition() {
        let values = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0];
        let mean = |a: &[f64], b: &[f64], pairs: f64| {
            a.iter().flat_map(|x| b.iter().map(move |y| (x - y).abs())).sum::<f64>() / pairs
        };
        let expected = (2..=6)
            .map(|cut| {
                let (x, y) = values.split_at(cut);
                let (n, m) = (x.len() as f64, y.len() as f64);
                let energy = 2.0 * mean(x, y, n * m) - mean(x, x, n * (n - 1.0)) - mean(y, y, m * (m - 1.0));
                (cut, energy * n * m / (n + m))
            })
            .max_by(|a, b| a.1.total_cmp(&b.1))
            .unwrap();
        let found = best_cut(&values, mean(&values, &values, 2.0));
        assert!(found.0 == expected.0 && (found.1 - expected.1).abs() < 1e-12, "{found:?} {expected:?}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn a_change_is_one_whatever_the_unit(
            noise in proptest::collection::vec(-1.0..1.0f64, 16..24), scale in 0.01..100.0f64, shift in -5.0..5.0f64
        ) {
            let stepped: Vec<f64> = noise.iter().enumerate().map(|(i, v)| v + if i < 8 { 0.0 } else { 6.0 }).collect();
            let moved: Vec<f64> = stepped.iter().map(|v| v * scale + shift).collect();
            let places = |values: &[f64]| changes(values, 0.05).iter().map(|change| change.at).collect::<Vec<_>>();
            // Where the noise is one-sided, the step may be found beside its place: that it is
            // found at all, `changes_of_level_are_found_and_not_invented` counts.
            prop_assert_eq!(places(&stepped), places(&moved));
        }
    }
}
