//! A histogram of `timing=each` against itself.

use super::Case;
use switchcost_model::{Histogram, Timing};

/// Of so many readings at least one is longer than a tick, even where a tick is 100 ns.
const MANY_READINGS: u64 = 1000;

pub(super) fn contradiction(case: &Case<'_>) -> Option<String> {
    if !case.plan.variant.each_unit() {
        return None;
    }
    let by_counter = case.plan.variant.timing == Timing::Each;
    let wrong =
        |histogram: &Histogram| inconsistent(histogram).or_else(|| wrong_counter(histogram).filter(|_| by_counter));
    case.transcript.histograms.iter().find_map(wrong)
}

fn inconsistent(histogram: &Histogram) -> Option<String> {
    let (first, last) = (histogram.buckets.first()?, histogram.buckets.last()?);
    if histogram.min > histogram.max {
        return Some(format!(
            "the shortest interval, {}, is longer than the longest, {}",
            histogram.min, histogram.max
        ));
    }
    if !(first.0..=upper(histogram, first.0)).contains(&histogram.min) {
        return Some(format!("the shortest interval, {}, lies outside the first bucket", histogram.min));
    }
    if !(last.0..=upper(histogram, last.0)).contains(&histogram.max) {
        return Some(format!("the longest interval, {}, lies outside the last bucket", histogram.max));
    }
    let total = |edge: &dyn Fn(u64) -> u64| -> u128 {
        histogram.buckets.iter().map(|&(lower, count)| u128::from(edge(lower)) * u128::from(count)).sum()
    };
    let (least, most) = (total(&|lower| lower), total(&|lower| upper(histogram, lower)));
    (!(least..=most).contains(&u128::from(histogram.sum)))
        .then(|| format!("the intervals add up to {}, the buckets to {least} to {most}", histogram.sum))
}

/// What reading the counter cost, and how fast it ran.
fn wrong_counter(histogram: &Histogram) -> Option<String> {
    if histogram.pair_count != histogram.units {
        return Some(format!(
            "the counter's own cost was read {} times beside {} intervals",
            histogram.pair_count, histogram.units
        ));
    }
    if histogram.pair_sum == 0 && histogram.pair_count >= MANY_READINGS {
        return Some(format!("{} readings of the counter cost nothing", histogram.pair_count));
    }
    if histogram.span_counter == 0 || histogram.span_clock == 0 {
        return Some("the counter's rate is unknown: a span of 0 was told".into());
    }
    let inside = histogram.sum.saturating_add(histogram.pair_sum);
    (histogram.span_counter < inside).then(|| {
        format!("the intervals and their readings take {inside} counter ticks of a span of {}", histogram.span_counter)
    })
}

/// Largest value of the bucket that begins here.
fn upper(histogram: &Histogram, lower: u64) -> u64 {
    let exact = 1_u64.checked_shl(histogram.bits).is_none_or(|edge| lower < edge);
    let width = if exact { 1 } else { 1_u64 << (lower.ilog2() - histogram.bits) };
    lower.saturating_add(width - 1)
}

/// What is left of the mean interval after the cost of reading the counter, and that cost; in counter ticks.
fn left(histogram: &Histogram) -> (f64, f64) {
    let units = histogram.units.max(1) as f64;
    let pair = histogram.pair_sum as f64 / histogram.pair_count.max(1) as f64;
    (histogram.sum as f64 / units - pair, pair)
}

/// Share of the reading's own cost below which the rest is not told from it: readings at two places of a loop differ by as much.
const RESOLUTION: f64 = 0.05;

/// How the reason of every answer begins that is too small to be a figure.
pub(crate) const BELOW_RESOLUTION: &str = "below the resolution";

/// Why the rest of the interval is not a figure.
pub(super) fn below_resolution(case: &Case<'_>) -> Option<String> {
    if case.plan.variant.timing != Timing::Each {
        return None;
    }
    let histogram = case.transcript.histograms.iter().find(|h| h.phase == switchcost_model::Phase::Measure)?;
    let (rest, pair) = left(histogram);
    (rest < RESOLUTION * pair).then(|| {
        format!(
            "{BELOW_RESOLUTION} of the reading: {rest:.1} counter ticks are left of an interval when the {pair:.1} of reading the counter are taken off"
        )
    })
}
