//! The bootstrap distribution of a median, exactly, and what follows for the difference of two.

use crate::interval::FEWEST;
use crate::{Interval, LogRatio, quantile, sorted};

/// Outcomes less likely than this are left out: together they weigh less than any level asked.
const NEGLIGIBLE: f64 = 1e-14;

/// Difference of the medians of two independent samples (b − a, of logarithms), with its bootstrap
/// percentile interval.
///
/// What is resampled is the value of a whole invocation (its median), the highest level at which a
/// run repeats itself. Resampling the batches within as well would count their scatter twice, since
/// it is already part of the scatter of the invocations' medians: Davison & Hinkley, "Bootstrap
/// Methods and their Application" (1997), section 3.8; Ren et al., "Nonparametric bootstrapping for
/// hierarchical data", Journal of Applied Statistics 37 (2010) 1487–1498.
///
/// No random numbers are drawn. With samples this small the distribution of the resampled median is
/// known in closed form, so the interval is the one that infinitely many draws would give: the same
/// for everybody, and good far out in the tails, where corrected levels lie.
///
/// No interval with fewer than 6 values on a side, nor at a level beyond what an exchange of the
/// two samples could ever show: 1 − 2 ÷ C(n + m, n).
#[must_use]
pub fn median_difference(a: &[f64], b: &[f64], confidence: f64) -> Option<LogRatio> {
    let (a, b) = (sorted(a), sorted(b));
    let centre = quantile(&b, 0.5)? - quantile(&a, 0.5)?;
    let possible = a.len().min(b.len()) >= FEWEST && confidence <= highest_confidence(a.len(), b.len());
    let interval = possible.then(|| {
        let (from, to) = (resampled_median(&a), resampled_median(&b));
        let tail = (1.0 - confidence) / 2.0;
        Interval {
            low: difference_quantile(&from, &to, tail).min(centre),
            high: difference_quantile(&from, &to, 1.0 - tail).max(centre),
        }
    });
    Some(LogRatio { centre, interval })
}

/// Highest level at which samples of these sizes can differ at all: even complete separation
/// happens by chance, twice in C(n + m, n).
#[must_use]
pub fn highest_confidence(n: usize, m: usize) -> f64 {
    1.0 - 2.0 / ln_choose(n + m, n).exp()
}

/// A possible value of a resampled median, and its probability.
type Outcome = (f64, f64);

/// Distribution of the median of `n` draws with replacement from `n` sorted values, ascending.
fn resampled_median(sorted: &[f64]) -> Vec<Outcome> {
    let mut outcomes = if sorted.len() % 2 == 1 { odd(sorted) } else { even(sorted) };
    outcomes.retain(|outcome| outcome.1 > NEGLIGIBLE);
    outcomes.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    outcomes
}

/// The median of an odd number is one of them: it is at most the i-th if at least half of the draws
/// are.
fn odd(sorted: &[f64]) -> Vec<Outcome> {
    let n = sorted.len();
    let up_to: Vec<f64> = (0..=n).map(|i| binomial_tail(n, n.div_ceil(2), i as f64 / n as f64)).collect();
    (0..n).map(|i| (sorted[i], up_to[i + 1] - up_to[i])).collect()
}

/// The median of an even number is the mean of the two in the middle, i-th ≤ j-th: for i < j
/// exactly half of the draws are at most the i-th (and reach it), the other half at least the j-th
/// (and reach it).
fn even(sorted: &[f64]) -> Vec<Outcome> {
    let n = sorted.len();
    let half = n / 2;
    let ln_ways = ln_choose(n, half) / 2.0;
    // √C(n, n/2) · (k/n)^(n/2): the root keeps both factors of a product within range.
    let power = |k: usize| match k {
        0 => 0.0,
        _ => (ln_ways + half as f64 * (k as f64 / n as f64).ln()).exp(),
    };
    let powers: Vec<f64> = (0..=n).map(power).collect();
    let mut outcomes = Vec::new();
    let mut before = 0.0;
    for i in 1..=n {
        let up_to = binomial_tail(n, half, i as f64 / n as f64);
        let reach = powers[i] - powers[i - 1];
        outcomes.push((sorted[i - 1], up_to - before - reach * powers[n - i]));
        before = up_to;
        for j in i + 1..=n {
            let weight = reach * (powers[n - j + 1] - powers[n - j]);
            if weight > NEGLIGIBLE {
                outcomes.push(((sorted[i - 1] + sorted[j - 1]) / 2.0, weight));
            }
        }
    }
    outcomes
}

/// Smallest difference `to − from` that is not exceeded with probability `p`: bisection, since the
/// sum of all pairs would be large.
fn difference_quantile(from: &[Outcome], to: &[Outcome], p: f64) -> f64 {
    let (first, last) = (from[0].0, from[from.len() - 1].0);
    let (mut low, mut high) = (to[0].0 - last, to[to.len() - 1].0 - first);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if difference_up_to(from, to, middle) >= p { high = middle } else { low = middle }
    }
    high
}

/// P(to − from ≤ limit), both ascending.
fn difference_up_to(from: &[Outcome], to: &[Outcome], limit: f64) -> f64 {
    let mut below = 0.0;
    let mut next = to.iter().peekable();
    from.iter()
        .map(|&(value, weight)| {
            while let Some(outcome) = next.next_if(|outcome| outcome.0 <= value + limit) {
                below += outcome.1;
            }
            weight * below
        })
        .sum()
}

/// P(Bin(n, p) ≥ k), k > 0.
fn binomial_tail(n: usize, k: usize, p: f64) -> f64 {
    if p <= 0.0 || p >= 1.0 {
        return p.clamp(0.0, 1.0);
    }
    let ln_odds = (p / (1.0 - p)).ln();
    let mut ln_term = ln_choose(n, k) + k as f64 * p.ln() + (n - k) as f64 * (1.0 - p).ln();
    let mut tail = 0.0;
    for i in k..=n {
        tail += ln_term.exp();
        ln_term += ((n - i) as f64 / (i + 1) as f64).ln() + ln_odds;
    }
    tail.min(1.0)
}

/// ln of the number of ways to choose k of n.
fn ln_choose(n: usize, k: usize) -> f64 {
    (1..=k.min(n - k)).map(|i| ((n + 1 - i) as f64 / i as f64).ln()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// All n^n resamples, counted.
    fn by_hand(values: &[f64]) -> Vec<Outcome> {
        let n = values.len();
        let mut medians: Vec<f64> = (0..n.pow(n as u32))
            .map(|mut code| {
                let drawn: Vec<f64> = (0..n)
                    .map(|_| {
                        let value = values[code % n];
                        code /= n;
                        value
                    })
                    .collect();
                crate::median(&drawn).unwrap()
            })
            .collect();
        medians.sort_by(f64::total_cmp);
        let total = medians.len() as f64;
        medians.chunk_by(|a, b| a == b).map(|equal| (equal[0], equal.len() as f64 / total)).collect()
    }

    #[test]
    fn the_closed_form_is_what_counting_gives() {
        for values in [&[1.0, 2.0, 4.0, 8.0, 16.0][..], &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0], &[3.0, 7.0], &[5.0]] {
            let (exact, counted) = (resampled_median(values), by_hand(values));
            assert_eq!(exact.len(), counted.len());
            for (e, c) in exact.iter().zip(&counted) {
                assert!(e.0 == c.0 && (e.1 - c.1).abs() < 1e-12, "{e:?} {c:?}");
            }
        }
    }

    #[test]
    fn probabilities_sum_to_one_at_any_size() {
        for n in [6, 7, 40, 41, 1000, 1001] {
            let values: Vec<f64> = (0..n).map(f64::from).collect();
            let sum: f64 = resampled_median(&values).iter().map(|outcome| outcome.1).sum();
            assert!((sum - 1.0).abs() < 1e-6, "n = {n}: {sum}");
        }
    }

    #[test]
    fn levels_beyond_reach_have_no_interval() {
        let (a, b) = ([0.0; 6], [1.0; 6]);
        assert!(median_difference(&a, &b, 0.95).unwrap().excludes_zero());
        // C(12, 6) = 924
        assert!((highest_confidence(6, 6) - (1.0 - 2.0 / 924.0)).abs() < 1e-9);
        assert_eq!(median_difference(&a, &b, 0.999).unwrap().interval, None);
        assert_eq!(median_difference(&a[..5], &b, 0.5).unwrap().interval, None);
        assert_eq!(median_difference(&[], &b, 0.95), None);
    }

    proptest! {
        #[test]
        fn sides_exchanged_give_the_mirror_image(
            a in proptest::collection::vec(-1.0..1.0f64, 6..14),
            b in proptest::collection::vec(-1.0..1.0f64, 6..14),
        ) {
            let (one, other) = (median_difference(&a, &b, 0.95).unwrap(), median_difference(&b, &a, 0.95).unwrap());
            prop_assert!((one.centre + other.centre).abs() < 1e-12);
            let (one, other) = (one.interval.unwrap(), other.interval.unwrap());
            prop_assert!((one.low + other.high).abs() < 1e-6 && (one.high + other.low).abs() < 1e-6);
            prop_assert!(one.low <= one.high);
        }
    }
}
