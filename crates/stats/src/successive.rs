//! Are values that were measured one after another alike? Then they say less than as many
//! independent ones, and an interval must be wider.

use crate::ranks::{next_to_next, offsets};
use crate::{FEWEST, Interval, LogRatio, Shared, median_interval, quantile, sorted};

/// Correlation beyond which no interval is widened further: values that are so much alike drift,
/// and their own scatter says nothing.
const MOST: f64 = 0.5;

/// What an interval is widened by at most.
pub const WIDEST: f64 = 2.0;

/// Correlation of each value with the next, by ranks, so that outliers do not decide (Bartels, "The
/// rank version of von Neumann's ratio test for randomness", Journal of the American Statistical
/// Association 77 (1982) 40–46), less what a short series hides of it, to first order: (1 + 3r) ÷ n
/// (Kendall, "Note on bias in the estimation of autocorrelation", Biometrika 41 (1954) 403–404). 0
/// where nothing varies.
#[must_use]
pub fn autocorrelation_of_ranks(in_time: &[f64]) -> f64 {
    let n = in_time.len() as f64;
    next_to_next(&offsets(in_time)).map_or(0.0, |raw| raw + (1.0 + 3.0 * raw) / n)
}

/// What chance makes of the correlation that so many independent values show: its standard
/// deviation.
#[must_use]
pub fn chance(n: usize) -> f64 {
    let n = n as f64;
    (1.0 + 3.0 / n) / n.sqrt()
}

/// By how much the variance of the median of `n` values exceeds that of independent ones, against
/// what their scatter shows, if each has this correlation ρ with the next or the one that all rows
/// share, whichever is more; 1 where they are not alike.
///
/// Under AR(1) the variance of a mean grows by v = (1 + ρ) ÷ (1 − ρ), and the scatter that the
/// values show is too small by (n − v) ÷ (n − 1).
#[must_use]
pub fn inflation(correlation: f64, n: usize, shared: &Shared) -> f64 {
    if n < FEWEST {
        return 1.0;
    }
    let alike = correlation.max(shared.correlation).clamp(0.0, MOST);
    let (n, variance) = (n as f64, (1.0 + alike) / (1.0 - alike));
    variance * (n - 1.0) / (n - variance)
}

/// By how much the interval of the median must be wider: by the root of [`inflation`], were ρ
/// known. As ten values know it to ± 0.3 only, a row by itself takes the whole; what many rows
/// share they know, and take little more than the root. Both by simulation
/// (docs/notebook/coverage.md).
///
/// A row that shows a correlation beyond the shared one by more than chance's standard deviation is
/// taken at its own word: no estimate is moved further towards that of all than its own error
/// (Efron & Morris, "Limiting the risk of Bayes and empirical Bayes estimators", Journal of the
/// American Statistical Association 67 (1972) 130–139).
#[must_use]
pub fn widening(correlation: f64, n: usize, shared: &Shared) -> f64 {
    let by_itself = correlation > shared.correlation.max(0.0) + chance(n);
    let power = if by_itself { 1.0 } else { f64::midpoint(1.0, shared.unknown) };
    inflation(correlation, n, shared).powf(power).min(WIDEST)
}

/// Whether values in the order of time follow one another beyond what any widening covers: their
/// own correlation, or the one that all rows share, exceeds by more than its standard error the
/// most that widens. Such values wander: they have a range, and no interval holds
/// (docs/notebook/coverage.md). Of independent ones fewer than 2 in 100 series do; values that
/// stand still never.
#[must_use]
pub fn wanders(in_time: &[f64], shared: &Shared) -> bool {
    let (own, error) = (autocorrelation_of_ranks(in_time), chance(in_time.len()));
    let moves = in_time.windows(2).any(|pair| pair[0].total_cmp(&pair[1]).is_ne());
    let beyond = own - error > MOST || shared.correlation - error * shared.unknown.sqrt() > MOST;
    in_time.len() >= FEWEST && moves && beyond
}

/// The interval of [`median_interval`] from values in the order of time, as much wider as
/// [`widening`] says; None of values that wander.
#[must_use]
pub fn successive_median_interval(in_time: &[f64], confidence: f64, shared: &Shared) -> Option<Interval> {
    let ascending = sorted(in_time);
    let interval = median_interval(&ascending, confidence).filter(|_| !wanders(in_time, shared))?;
    let times = widening(autocorrelation_of_ranks(in_time), in_time.len(), shared);
    Some(interval.widened(quantile(&ascending, 0.5)?, times))
}

impl Shared {
    /// The same for tails: it widens their intervals as much, but only their own correlation says
    /// that they wander. What the middles of all rows do, tails need not do.
    #[must_use]
    pub fn of_tails(self) -> Self {
        Self { correlation: self.correlation.min(MOST), ..self }
    }
}

impl Interval {
    /// So many times as far from the centre at both ends; downwards by the same factor so many
    /// times, so that no cost falls below nothing.
    #[must_use]
    pub fn widened(self, centre: f64, times: f64) -> Self {
        let linear = centre - times * (centre - self.low);
        let low = if self.low >= 0.0 { centre * (self.low / centre).powf(times) } else { linear };
        Self { low: low.min(self.low), high: centre + times * (self.high - centre) }
    }
}

impl LogRatio {
    /// With an interval so many times as wide.
    #[must_use]
    pub fn widened(self, times: f64) -> Self {
        let wider = |interval: Interval| Interval {
            low: self.centre - times * (self.centre - interval.low),
            high: self.centre + times * (interval.high - self.centre),
        };
        Self { interval: self.interval.map(wider), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use proptest::prelude::*;

    #[test]
    fn correlations_of_ranks_as_in_r() {
        // R: r <- acf(rank(c(1, 3, 2, 5, 4, 6)), plot = FALSE)$acf[2] gives 0.1; r + (1 + 3 * r) /
        // 6
        let found = autocorrelation_of_ranks(&[1.0, 3.0, 2.0, 5.0, 4.0, 6.0]);
        assert!((found - 0.316_667).abs() < 1e-6, "{found}");
    }

    /// On average it is nearly what it estimates, also from ten values. Ranks of normal values
    /// correlate a little less than these: by 6 ÷ π · asin(φ ÷ 2).
    #[test]
    fn the_correlation_of_short_series_is_not_biased() {
        for (phi, expected) in [(0.0_f64, 0.0), (0.3, 0.288), (0.5, 0.483)] {
            for (n, off) in [(10_u64, 0.15), (40, 0.03)] {
                let mut random = Random(n);
                let series = |random: &mut Random| {
                    let next = |value: &f64| Some(phi * value + (1.0 - phi * phi).sqrt() * random.normal());
                    std::iter::successors(Some(0.0), next).skip(50).take(n as usize).collect::<Vec<f64>>()
                };
                let sum: f64 = (0..4000).map(|_| autocorrelation_of_ranks(&series(&mut random))).sum();
                assert!((sum / 4000.0 - expected).abs() < off, "{phi}, {n}: {}", sum / 4000.0);
            }
        }
    }

    #[test]
    fn what_alternates_or_stands_still_is_not_widened() {
        let teeth: Vec<f64> = (0..20).map(|i| f64::from(i % 2)).collect();
        let slope: Vec<f64> = (0..20).map(f64::from).collect();
        let times = [&teeth[..], &[5.0; 20], &[], &slope]
            .map(|values| widening(autocorrelation_of_ranks(values), values.len(), &Shared::default()));
        assert!(times[..3] == [1.0; 3] && (times[3] - 2.0).abs() < 1e-9, "{times:?}");
    }

    /// Of independent series hardly any wander, of those that stand still none, and of slopes all;
    /// what many rows share needs no row of its own.
    #[test]
    fn few_independent_series_wander() {
        for n in [6_u64, 10, 20, 40] {
            let mut random = Random(n);
            let found =
                (0..4000).filter(|_| wanders(&(0..n).map(|_| random.normal()).collect::<Vec<_>>(), &Shared::default()));
            let found = found.count();
            assert!(found < 80, "{n} values: {found} of 4000");
        }
        let shared = Shared { correlation: 0.9, unknown: 0.1 };
        let slope: Vec<f64> = (0..20).map(f64::from).collect();
        let teeth: Vec<f64> = (0..20).map(|i| f64::from(i % 2)).collect();
        assert!(wanders(&slope, &Shared::default()) && wanders(&teeth, &shared));
        assert!(
            !wanders(&[5.0; 20], &shared) && !wanders(&slope[..5], &shared) && !wanders(&teeth, &Shared::default())
        );
        assert_eq!(successive_median_interval(&slope, 0.95, &Shared::default()), None);
    }

    /// Ten values: the inflation is 1.59 at 0.2 and 3.86 at 0.5.
    #[test]
    fn what_many_rows_know_takes_the_root() {
        let shared = |correlation, unknown| Shared { correlation, unknown };
        let near = |found: f64, expected: f64| assert!((found - expected).abs() < 0.01, "{found}, not {expected}");
        // A row by itself takes the whole, at most twice.
        near(widening(0.2, 10, &Shared::default()), 1.588);
        near(widening(0.5, 10, &Shared::default()), 2.0);
        // Of two that know it equally well the larger one counts.
        near(widening(0.2, 10, &shared(-0.1, 0.0)), 1.588_f64.sqrt());
        near(widening(-0.4, 10, &shared(0.5, 0.0)), 3.857_f64.sqrt());
        near(inflation(-0.4, 10, &shared(0.5, 0.0)), 3.857);
        // Beyond chance (0.41) it is the row's own.
        near(widening(0.4, 10, &shared(0.0, 0.0)), 2.739_f64.sqrt());
        near(widening(0.45, 10, &shared(0.0, 0.0)), 2.0);
        assert_eq!((widening(0.5, 5, &shared(0.5, 0.0)), inflation(0.5, 5, &shared(0.5, 0.0))), (1.0, 1.0));
    }

    #[test]
    fn a_cost_stays_above_nothing() {
        let wide = Interval { low: 1.0, high: 9.0 }.widened(4.0, 3.0);
        assert_eq!(wide, Interval { low: 0.0625, high: 19.0 });
        let below = Interval { low: -1.0, high: 1.0 }.widened(0.0, 2.0);
        assert_eq!(below, Interval { low: -2.0, high: 2.0 });
        let log = LogRatio { centre: 0.1, interval: Some(Interval { low: 0.0, high: 0.2 }) }.widened(2.0);
        let log = log.interval.unwrap();
        assert!((log.low + 0.1).abs() < 1e-12 && (log.high - 0.3).abs() < 1e-12, "{log:?}");
    }

    proptest! {
        #[test]
        fn order_widens_and_unit_does_not(
            values in proptest::collection::vec(1.0..2.0f64, 6..40), scale in 0.001..1000.0f64
        ) {
            let plain = median_interval(&sorted(&values), 0.95).unwrap();
            // Values that wander by chance have none.
            let wide = successive_median_interval(&values, 0.95, &Shared::default());
            prop_assert_eq!(wide.is_none(), wanders(&values, &Shared::default()));
            prop_assert!(wide.is_none_or(|wide| wide.low <= plain.low && plain.high <= wide.high));
            let scaled: Vec<f64> = values.iter().map(|value| (value * scale).ln()).collect();
            prop_assert_eq!(autocorrelation_of_ranks(&scaled), autocorrelation_of_ranks(&values));
        }
    }
}
