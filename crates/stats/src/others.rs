//! Is one value of many unlike the others?

use crate::location::{SIGMAS, median, quantile, sorted};
use statrs::distribution::{ContinuousCDF as _, StudentsT};
use std::collections::BTreeMap;

/// Values, ready to be looked at without any one of them: what is unlike the others must not hide
/// itself.
#[derive(Debug, Clone)]
pub struct Others {
    sorted: Vec<f64>,
    /// Centre → sorted distances of all values from it. Without one value the median is one of
    /// three.
    distances: BTreeMap<u64, Vec<f64>>,
}

impl Others {
    /// Of these values.
    #[must_use]
    pub fn new(values: &[f64]) -> Self {
        Self { sorted: sorted(values), distances: BTreeMap::new() }
    }

    /// Median and robust standard deviation (1.4826 MAD) of all values but `value`, which is left
    /// out once if it is one of them. `None`: nothing is left.
    pub fn without(&mut self, value: f64) -> Option<(f64, f64)> {
        let own = self.sorted.binary_search_by(|other| other.total_cmp(&value)).ok();
        let centre = median_without(&self.sorted, own)?;
        let all = &self.sorted;
        let distances = self
            .distances
            .entry(centre.to_bits())
            .or_insert_with(|| sorted(&all.iter().map(|other| (other - centre).abs()).collect::<Vec<_>>()));
        let own = own.and_then(|_| distances.binary_search_by(|other| other.total_cmp(&(value - centre).abs())).ok());
        Some((centre, SIGMAS * median_without(distances, own)?))
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.sorted.len()
    }

    /// There are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }
}

/// Median of sorted values without the one at this place.
fn median_without(sorted: &[f64], out: Option<usize>) -> Option<f64> {
    let Some(out) = out else { return quantile(sorted, 0.5) };
    let at = |index: usize| sorted[index + usize::from(index >= out)];
    let count = sorted.len() - 1;
    match count {
        0 => None,
        _ if count % 2 == 1 => Some(at(count / 2)),
        _ => median(&[at(count / 2 - 1), at(count / 2)]),
    }
}

/// Chance that Student's t lies as far from 0 as this, on either side.
#[must_use]
pub fn two_sided(t: f64, freedom: f64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom).map_or(1.0, |student| (2.0 * student.cdf(-t.abs())).min(1.0))
}

/// Holm's step-down correction: each `p` as it counts beside all the others.
///
/// S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
/// Statistics 6 (1979) 65–70.
#[must_use]
pub fn holm(ps: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..ps.len()).collect();
    order.sort_by(|a, b| ps[*a].total_cmp(&ps[*b]));
    let mut corrected = vec![1.0; ps.len()];
    let mut least = 0.0_f64;
    for (rank, place) in order.into_iter().enumerate() {
        least = least.max((ps[place] * (ps.len() - rank) as f64).min(1.0));
        corrected[place] = least;
    }
    corrected
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::location::mad;
    use proptest::prelude::*;

    #[test]
    fn holm_as_in_r() {
        // R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm") gives 0.03 0.06 0.06 0.02
        let corrected = holm(&[0.01, 0.04, 0.03, 0.005]);
        for (got, expected) in corrected.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            assert!((got - expected).abs() < 1e-12, "{corrected:?}");
        }
        assert!(holm(&[]).is_empty());
    }

    #[test]
    fn student_as_tabulated() {
        // R: 2 * pt(-2.570582, 5) gives 0.05
        assert!((two_sided(2.570_582, 5.0) - 0.05).abs() < 1e-6);
        assert_eq!((two_sided(0.0, 5.0), two_sided(f64::INFINITY, 5.0)), (1.0, 0.0));
    }

    #[test]
    fn one_alone_has_no_others() {
        assert_eq!(Others::new(&[1.0]).without(1.0), None);
        assert_eq!(Others::new(&[]).without(1.0), None);
        assert_eq!(Others::new(&[1.0]).without(2.0), Some((1.0, 0.0)));
    }

    proptest! {
        /// Nothing but a faster way to the same figures.
        #[test]
        fn leaving_one_out_is_what_it_says(values in proptest::collection::vec(-9..9i32, 2..40), at in 0..1000usize) {
            let values: Vec<f64> = values.into_iter().map(f64::from).collect();
            let at = at % values.len();
            let mut rest = values.clone();
            rest.remove(at);
            let found = Others::new(&values).without(values[at]).unwrap();
            prop_assert_eq!(found, (median(&rest).unwrap(), SIGMAS * mad(&rest).unwrap()));
        }

        #[test]
        fn holm_keeps_the_order_and_never_accuses_more(ps in proptest::collection::vec(0.0..1.0f64, 1..40)) {
            let corrected = holm(&ps);
            for (i, p) in ps.iter().enumerate() {
                prop_assert!(corrected[i] >= *p && corrected[i] <= 1.0);
                prop_assert!(ps.iter().zip(&corrected).all(|(other, c)| other < p || *c >= corrected[i]));
            }
        }
    }
}
