//! Is a step more than drift?
//!
//! Values measured one after another are often alike. Such a series wanders, and a test by
//! permutations takes that for steps. So a step is also held against series that only wander:
//! Gaussian AR(1), `x[t] = φ·x[t−1] + noise`. The statistic is the log-likelihood of the best two
//! levels less that of the best single level, each with the φ that suits it best (Robbins,
//! Gallagher, Lund & Aue, "Mean shift testing in correlated data", Journal of Time Series Analysis
//! 32 (2011) 498–511): the φ beside a step is not inflated by it. Its distribution is drawn (Monte
//! Carlo test: Dufour, Journal of Econometrics 133 (2006) 443–477) at the largest φ, where steps
//! look strongest, so that the level holds for every smaller one too.

use crate::location;
use crate::random::Random;
use std::collections::BTreeMap;

/// Largest φ of a model, and that of the drawn series, in tenths.
const TENTHS: u32 = 9;

/// Neighbours on each side by whose median an outlier is known, and its distance from that in MAD.
const NEIGHBOURS: usize = 3;
const FAR: f64 = 5.0;

/// What drift alone does to series of each length.
#[derive(Debug, Clone)]
pub struct Drift {
    draws: usize,
    by_length: BTreeMap<usize, Vec<f64>>,
}

impl Drift {
    /// To be asked at levels well above 1 ÷ `draws`.
    pub fn new(draws: usize) -> Self {
        Self { draws, by_length: BTreeMap::new() }
    }

    /// Share of drifting series that have a step as strong as the strongest of these values.
    pub fn p(&mut self, values: &[f64], shortest: usize) -> f64 {
        let (n, draws) = (values.len(), self.draws);
        let drawn = self.by_length.entry(n).or_insert_with(|| {
            let mut random = Random(n as u64);
            (0..draws).map(|_| strength(&calmed(&drifting(n, &mut random)), shortest)).collect()
        });
        let strength = strength(&calmed(values), shortest);
        (1 + drawn.iter().filter(|drawn| **drawn >= strength).count()) as f64 / (draws + 1) as f64
    }
}

/// Correlation of values with their successors, about the means of the stretches that end at
/// `ends`, 0 among them; None where nothing varies.
pub fn autocorrelation(values: &[f64], ends: &[usize]) -> Option<f64> {
    let values = calmed(values);
    let about = |stretch: &[f64]| {
        let mean = crate::mean(stretch).unwrap_or_default();
        stretch.iter().map(|value| value - mean).collect::<Vec<f64>>()
    };
    let rest: Vec<f64> = ends.windows(2).flat_map(|ends| about(&values[ends[0]..ends[1]])).collect();
    let squares: f64 = rest.iter().map(|value| value * value).sum();
    (squares > 0.0).then(|| rest.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>() / squares)
}

fn drifting(n: usize, random: &mut Random) -> Vec<f64> {
    let phi = f64::from(TENTHS) / 10.0;
    let noise = (1.0 - phi * phi).sqrt();
    std::iter::successors(Some(random.normal()), |value| Some(phi * value + noise * random.normal())).take(n).collect()
}

/// Outliers brought near their neighbours: the model has none.
fn calmed(values: &[f64]) -> Vec<f64> {
    let near = |i: usize| &values[i.saturating_sub(NEIGHBOURS)..(i + NEIGHBOURS + 1).min(values.len())];
    let centres: Vec<f64> = (0..values.len()).filter_map(|i| crate::median(near(i))).collect();
    let off: Vec<f64> = values.iter().zip(&centres).map(|(value, centre)| (value - centre).abs()).collect();
    match crate::median(&off) {
        Some(mad) if mad > 0.0 => {
            let far = FAR * mad;
            values.iter().zip(&centres).map(|(value, centre)| location::near(*value, *centre, far)).collect()
        }
        _ => values.to_vec(),
    }
}

/// Log-likelihood that the best step adds.
fn strength(values: &[f64], shortest: usize) -> f64 {
    let n = values.len();
    let (mut level, mut step) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
    for phi in (0..=TENTHS).map(|tenths| f64::from(tenths) / 10.0) {
        // What is new in each value; a level of 1 gives `start` in the first and `rest` in all
        // others.
        let (start, rest) = ((1.0 - phi * phi).sqrt(), 1.0 - phi);
        let mut new: Vec<f64> = values.windows(2).map(|pair| pair[1] - phi * pair[0]).collect();
        new.insert(0, start * values[0]);
        let likelihood = |squares: f64| start.ln() - n as f64 / 2.0 * squares.max(f64::MIN_POSITIVE).ln();
        let of_level = start * start + rest * rest * (n - 1) as f64;
        let on_level = start * new[0] + rest * new[1..].iter().sum::<f64>();
        let squares = new.iter().map(|new| new * new).sum::<f64>() - on_level * on_level / of_level;
        level = level.max(likelihood(squares));
        // A step of 1 gives 1 where it is and `rest` in all later ones; least squares beside the
        // level.
        let mut later: f64 = new[n - shortest + 1..].iter().sum();
        for cut in (shortest..=n - shortest).rev() {
            let shared = rest + rest * rest * (n - cut - 1) as f64;
            let own = 1.0 + rest * rest * (n - cut - 1) as f64 - shared * shared / of_level;
            let on_step = new[cut] + rest * later - shared * on_level / of_level;
            step = step.max(likelihood(squares - on_step * on_step / own));
            later += new[cut];
        }
    }
    step - level
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Least squares over the whole matrix, for one φ.
    fn squares(values: &[f64], phi: f64, cut: Option<usize>) -> f64 {
        let whiten = |x: &[f64]| {
            let mut new: Vec<f64> = x.windows(2).map(|pair| pair[1] - phi * pair[0]).collect();
            new.insert(0, (1.0 - phi * phi).sqrt() * x[0]);
            new
        };
        let mut rest = whiten(values);
        let mut columns = vec![vec![1.0; values.len()]];
        columns.extend(cut.map(|cut| (0..values.len()).map(|t| f64::from(u8::from(t >= cut))).collect()));
        let mut done: Vec<Vec<f64>> = Vec::new(); // Gram–Schmidt
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let without = |v: &mut Vec<f64>, u: &[f64]| {
            let share = dot(v, u) / dot(u, u);
            v.iter_mut().zip(u).for_each(|(v, u)| *v -= share * u);
        };
        for column in columns {
            let mut column = whiten(&column);
            done.iter().for_each(|u| without(&mut column, u));
            without(&mut rest, &column);
            done.push(column);
        }
        dot(&rest, &rest)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn the_strength_is_that_of_the_definition(values in proptest::collection::vec(-1.0..1.0f64, 6..20)) {
            let n = values.len();
            let phis: Vec<f64> = (0..10).map(|tenths| f64::from(tenths) / 10.0).collect();
            let best = |cuts: &[Option<usize>]| {
                let of = |phi: f64, cut| (1.0 - phi * phi).ln() / 2.0 - n as f64 / 2.0 * squares(&values, phi, cut).ln();
                phis.iter().flat_map(|&phi| cuts.iter().map(move |&cut| of(phi, cut))).fold(f64::NEG_INFINITY, f64::max)
            };
            let cuts: Vec<Option<usize>> = (2..=n - 2).map(Some).collect();
            prop_assert!((strength(&values, 2) - (best(&cuts) - best(&[None]))).abs() < 1e-6);
        }

        /// Neither unit nor place of a series matters, and p is a share.
        #[test]
        fn p_is_one_whatever_the_unit(
            values in proptest::collection::vec(-1.0..1.0f64, 8..20), scale in 0.01..100.0f64, shift in -5.0..5.0f64
        ) {
            let mut drift = Drift::new(199);
            let p = drift.p(&values, 2);
            let moved: Vec<f64> = values.iter().map(|value| value * scale + shift).collect();
            prop_assert!((1.0 / 200.0..=1.0).contains(&p) && (p - drift.p(&moved, 2)).abs() <= 1.0 / 200.0);
        }
    }

    #[test]
    fn likeness_of_neighbours() {
        let wave: Vec<f64> = (0..40).map(|i| f64::from(i) / 5.0).map(f64::sin).collect();
        let teeth: Vec<f64> = (0..40).map(|i| f64::from(i % 2)).collect();
        let step: Vec<f64> = teeth.iter().enumerate().map(|(i, v)| v + if i < 20 { 0.0 } else { 50.0 }).collect();
        assert!(autocorrelation(&wave, &[0, 40]).unwrap() > 0.9);
        assert!(autocorrelation(&teeth, &[0, 40]).unwrap() < -0.9);
        assert!(
            autocorrelation(&step, &[0, 40]).unwrap() > 0.9 && autocorrelation(&step, &[0, 20, 40]).unwrap() < -0.9
        );
        assert_eq!((autocorrelation(&[1.0; 9], &[0, 9]), autocorrelation(&[], &[0, 0])), (None, None));
    }
}
