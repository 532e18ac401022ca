//! Where does a series change its level?
//!
//! E-divisive (Matteson & James, "A nonparametric approach for multiple change point analysis of multivariate data", Journal of the American
//! Statistical Association 109 (2014) 334–345), as performance histories elsewhere use it (Daly et al., "The use of change point detection to
//! identify software performance regressions in a continuous integration system", ICPE 2020). The best place to cut a stretch is where the energy
//! distance between both sides, weighted by their sizes, is largest. Whether it is a cut at all is asked of permutations: under no change the values
//! are exchangeable, so the share of orders that cut at least as well is an exact level, whatever the distribution. Each side is then searched in turn.

/// Values on each side of a cut, at least: one value alone is an outlier, not a level.
pub const SHORTEST: usize = 2;

/// Random orders that a cut is held against, at least.
const ORDERS: usize = 999;

/// A change of level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// Index of the first value of the new level.
    pub at: usize,
    /// Share of random orders of the stretch that can be cut at least as well.
    pub p: f64,
}

/// The changes of a series in order of time. The chance of finding any where there is none is at most `level`.
///
/// The same series gives the same answer: the random orders come from a fixed seed.
#[must_use]
pub fn changes(values: &[f64], level: f64) -> Vec<Change> {
    let mut found = Vec::new();
    let mut stretches = vec![(0, values.len())];
    while let Some((from, to)) = stretches.pop() {
        if let Some(change) = strongest(&values[from..to], level) {
            let at = from + change.at;
            found.push(Change { at, ..change });
            stretches.extend([(from, at), (at, to)]);
        }
    }
    found.sort_unstable_by_key(|change| change.at);
    found
}

/// Fewest values in which a change could show at this level: half of them on each side, and of all ways to choose a half only it and its mirror image
/// cut as well.
#[must_use]
pub fn fewest_for_change(level: f64) -> usize {
    (2 * SHORTEST..200).find(|&n| crate::highest_confidence(n / 2, n - n / 2) >= 1.0 - level).unwrap_or(200)
}

fn strongest(values: &[f64], level: f64) -> Option<Change> {
    let n = values.len();
    if n < fewest_for_change(level) {
        return None;
    }
    let values = &clamped(values);
    let mut order: Vec<usize> = (0..n).collect();
    let (at, strength) = best_cut(values, &order);
    if strength <= 0.0 {
        return None;
    }
    // Enough orders to reach far below the level, or one lucky order would decide.
    let orders = ORDERS.max((20.0 / level).ceil() as usize - 1);
    // One too many that reach it, and the level is missed: no need to go on.
    let most = (level * (orders + 1) as f64).floor() as usize;
    let mut random = Random(n as u64);
    let mut reached = 1;
    for _ in 0..orders {
        random.shuffle(&mut order);
        reached += usize::from(best_cut(values, &order).1 >= strength * (1.0 - 1e-9));
        if reached > most {
            return None;
        }
    }
    Some(Change { at, p: reached as f64 / (orders + 1) as f64 })
}

/// Values no further from their median than 5 MAD: how far out an outlier lies must not decide. The order plays no part in it, so the level stays exact.
fn clamped(values: &[f64]) -> Vec<f64> {
    match (crate::median(values), crate::mad(values)) {
        (Some(centre), Some(mad)) if mad > 0.0 => {
            values.iter().map(|value| value.clamp(centre - 5.0 * mad, centre + 5.0 * mad)).collect()
        }
        _ => values.to_vec(),
    }
}

/// The best place to cut the values taken in this order, and how well it cuts.
fn best_cut(values: &[f64], order: &[usize]) -> (usize, f64) {
    let n = order.len();
    let distance = |i: usize, j: usize| (values[order[i]] - values[order[j]]).abs();
    // Sums of distances within the left side, within the right side, and between them; one value at a time goes over.
    let (mut left, mut between) = (0.0, 0.0);
    let mut right: f64 = (0..n).map(|i| (i + 1..n).map(|j| distance(i, j)).sum::<f64>()).sum();
    let mut best = (0, 0.0);
    for cut in 1..=n - SHORTEST {
        let moved = cut - 1;
        let to_left: f64 = (0..moved).map(|i| distance(i, moved)).sum();
        let to_right: f64 = (cut..n).map(|j| distance(moved, j)).sum();
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

/// Random numbers that are the same everywhere: SplitMix64 (Steele, Lea & Flood 2014).
pub struct Random(u64);

impl Random {
    /// From a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// One of the numbers from 0 to below the bound.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        // The high half of a product: without the bias of a remainder beyond 2⁻⁵⁰.
        ((u128::from(z ^ (z >> 31)) * bound as u128) >> 64) as usize
    }

    fn shuffle(&mut self, order: &mut [usize]) {
        for i in (1..order.len()).rev() {
            order.swap(i, self.below(i + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
        let found = best_cut(&values, &[0, 1, 2, 3, 4, 5, 6, 7]);
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
            prop_assert!(places(&stepped).contains(&8));
            prop_assert_eq!(places(&stepped), places(&moved));
        }
    }
}
