//! What the rows of a run know together: how much each start is like the one before. What makes
//! starts alike is the machine, which all rows of a round share, and many rows know it better than
//! one.

use crate::FEWEST;
use crate::ranks::{next_to_next, offsets};
use std::collections::BTreeMap;

/// The correlation of each start with the next, over the rows of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shared {
    /// On average over the rows; 0 if unknown.
    pub correlation: f64,
    /// Its variance ÷ that of a single row's: 1 where the rows know no more than one of them does.
    pub unknown: f64,
}

impl Default for Shared {
    fn default() -> Self {
        Self { correlation: 0.0, unknown: 1.0 }
    }
}

/// What a series of n hides of a correlation ρ of neighbours: its ranks show ρ − (1 + 4ρ) ÷ n.
/// Kendall has 3 for the values themselves, to first order; by simulation of 10 to 40 starts ranks
/// hide one more. Unlike chance, it is the same in all rows and would stay in their mean.
const HIDDEN: f64 = 4.0;

/// Of a row with so many that follow it in the list the joint scatter is looked at: a sweep of a
/// thousand rows has half a million pairs.
const PARTNERS: usize = 24;

/// From rows of at least six starts, each of these with its round, in the order of time. A single
/// row shares nothing.
///
/// Rows whose starts scatter together, because the machine slows them together, err together:
/// estimates of two rows then correlate by the square of what their starts do (Bartlett's formula).
/// So rows count for as many as their mean square of correlations within rounds, less what chance
/// gives, leaves of them.
#[must_use]
pub fn shared(rows: &[&[(u64, f64)]]) -> Shared {
    let rows: Vec<Vec<(u64, f64)>> = rows.iter().filter(|row| row.len() >= FEWEST).map(|row| ranked(row)).collect();
    let (mut sum, mut weights, mut squares, mut count) = (0.0, 0.0, 0.0, 0_usize);
    for row in &rows {
        let n = row.len() as f64;
        let Some(raw) = next_to_next(&row.iter().map(|(_, offset)| *offset).collect::<Vec<_>>()) else { continue };
        let slope = 1.0 - HIDDEN / n;
        let weight = n * slope * slope;
        sum += weight * (raw + 1.0 / n) / slope;
        weights += weight;
        squares += weight * weight;
        count += 1;
    }
    if count < 2 {
        return Shared::default();
    }
    let by_round: Vec<BTreeMap<u64, f64>> = rows.into_iter().map(BTreeMap::from_iter).collect();
    let pairs = by_round.iter().enumerate().flat_map(|(place, row)| {
        by_round[place + 1..].iter().take(PARTNERS).filter_map(|other| square_beyond_chance(row, other))
    });
    let (joint, pairs) = pairs.fold((0.0, 0.0), |(sum, count), square| (sum + square, count + 1.0));
    // Rows that have no rounds in common cannot tell, and count as one.
    let together = if pairs > 0.0 { (joint / pairs).clamp(0.0, 1.0) } else { 1.0 };
    Shared { correlation: sum / weights, unknown: together + (1.0 - together) * squares / (weights * weights) }
}

/// Each with its round, as ranks around their middle.
fn ranked(row: &[(u64, f64)]) -> Vec<(u64, f64)> {
    let values: Vec<f64> = row.iter().map(|(_, value)| *value).collect();
    row.iter().map(|(round, _)| *round).zip(offsets(&values)).collect()
}

/// Squared correlation of two rows over the rounds that hold both (of several starts in a round the
/// last), less what that of independent ones is on average.
fn square_beyond_chance(a: &BTreeMap<u64, f64>, b: &BTreeMap<u64, f64>) -> Option<f64> {
    let both: Vec<(f64, f64)> = a.iter().filter_map(|(round, own)| Some((*own, *b.get(round)?))).collect();
    if both.len() < FEWEST {
        return None;
    }
    let n = both.len() as f64;
    let (sum_a, sum_b) = both.iter().fold((0.0, 0.0), |(a, b), pair| (a + pair.0, b + pair.1));
    let products = both.iter().fold((0.0, 0.0, 0.0), |(aa, bb, ab), pair| {
        let (a, b) = (pair.0 - sum_a / n, pair.1 - sum_b / n);
        (aa + a * a, bb + b * b, ab + a * b)
    });
    let (aa, bb, ab) = products;
    let chance = 1.0 / (n - 1.0);
    (aa > 0.0 && bb > 0.0).then(|| (ab * ab / (aa * bb) - chance) / (1.0 - chance))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Rows of `n` starts that share a machine by `part` of their variance; machine and rest each
    /// go on by `phi`.
    fn rows(count: usize, n: u64, part: f64, phi: f64, random: &mut Random) -> Vec<Vec<(u64, f64)>> {
        let series = |random: &mut Random| {
            let next = |value: &f64| Some(phi * value + (1.0 - phi * phi).sqrt() * random.normal());
            std::iter::successors(Some(0.0), next).skip(50).take(n as usize).collect::<Vec<f64>>()
        };
        let machine = series(random);
        let mix = |own: Vec<f64>| {
            let values =
                machine.iter().zip(own).map(|(machine, own)| part.sqrt() * machine + (1.0 - part).sqrt() * own);
            (0..n).zip(values).collect()
        };
        (0..count).map(|_| mix(series(random))).collect()
    }

    fn of(rows: &[Vec<(u64, f64)>]) -> Shared {
        shared(&rows.iter().map(Vec::as_slice).collect::<Vec<_>>())
    }

    #[test]
    fn one_row_shares_nothing() {
        let mut random = Random(1);
        let mut few = rows(1, 10, 0.0, 0.5, &mut random);
        assert_eq!((of(&few), of(&[])), (Shared::default(), Shared::default()));
        // Nor do rows that stand still, are too short, or lie in other rounds.
        few.extend([(0..10).map(|round| (round, 5.0)).collect(), (0..5).map(|round| (round, round as f64)).collect()]);
        assert_eq!(of(&few), Shared::default());
        let elsewhere = few[0].iter().map(|(round, value)| (round + 100, *value)).collect();
        assert!((of(&[few[0].clone(), elsewhere]).unknown - 1.0).abs() < 1e-12);
    }

    /// Ranks of normal values correlate a little less than these: the correction is to hold for
    /// both ends and for ten starts as for forty.
    #[test]
    fn the_mean_of_many_rows_is_not_biased() {
        for phi in [0.0, 0.3, 0.5] {
            for n in [10, 20, 40] {
                let found = of(&rows(800, n, 0.0, phi, &mut Random(n))).correlation;
                assert!((found - phi).abs() < 0.03, "{phi}, {n}: {found}");
            }
        }
    }

    #[test]
    fn rows_that_scatter_together_know_no_more_than_one() {
        let known = |count, part| {
            let mut random = Random(7);
            (0..200).map(|_| of(&rows(count, 10, part, 0.0, &mut random)).unknown).sum::<f64>() / 200.0
        };
        let found = [(25, 0.0), (2, 0.0), (25, 0.5), (25, 1.0)].map(|(count, part)| known(count, part));
        assert!((0.04..0.07).contains(&found[0]) && (0.5..0.65).contains(&found[1]), "{found:?}");
        // Half of the variance is shared: a quarter of what an estimate errs by.
        assert!((0.2..0.3).contains(&found[2]) && found[3] > 0.999, "{found:?}");
    }

    /// They know more.
    #[test]
    fn longer_rows_count_more() {
        let slope = |n: u64| (0..n).map(|round| (round, round as f64)).collect::<Vec<_>>();
        let teeth = |n: u64| (0..n).map(|round| (round, (round % 2) as f64)).collect::<Vec<_>>();
        let (rising, toothed) = (of(&[slope(40), teeth(10)]), of(&[slope(10), teeth(40)]));
        assert!(rising.correlation > 0.5 && toothed.correlation < -0.5, "{rising:?}, {toothed:?}");
        assert!((of(&[teeth(10), slope(40)]).correlation - rising.correlation).abs() < 1e-12);
    }
}
