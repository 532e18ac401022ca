//! A histogram of `timing=each` against itself.

use super::case::Case;
use switchcost_model::{Histogram, Reason, Timing};

pub(super) fn contradiction(case: &Case<'_>) -> Option<Reason> {
    if !case.plan.variant.each_unit() {
        return None;
    }
    let by_counter = case.plan.variant.timing == Timing::Each;
    let wrong = |histogram: &Histogram| {
        inconsistent(histogram).or_else(|| wrong_counter(case, histogram).filter(|_| by_counter))
    };
    case.transcript.histograms.iter().find_map(wrong)
}

fn inconsistent(histogram: &Histogram) -> Option<Reason> {
    let (first, last) = (histogram.buckets.first()?, histogram.buckets.last()?);
    if histogram.min > histogram.max {
        return Some(Reason::ShortestAboveLongest { min: histogram.min, max: histogram.max });
    }
    if !(first.0..=upper(histogram, first.0)).contains(&histogram.min) {
        return Some(Reason::ShortestOutside { min: histogram.min });
    }
    if !(last.0..=upper(histogram, last.0)).contains(&histogram.max) {
        return Some(Reason::LongestOutside { max: histogram.max });
    }
    let total = |edge: &dyn Fn(u64) -> u64| -> u128 {
        histogram.buckets.iter().map(|&(lower, count)| u128::from(edge(lower)) * u128::from(count)).sum()
    };
    let (least, most) = (total(&|lower| lower), total(&|lower| upper(histogram, lower)));
    let whole = |sum: u128| u64::try_from(sum).unwrap_or(u64::MAX);
    (!(least..=most).contains(&u128::from(histogram.sum))).then(|| Reason::SumOutside {
        sum: histogram.sum,
        least: whole(least),
        most: whole(most),
    })
}

/// What reading the counter cost, and how fast it ran.
fn wrong_counter(case: &Case<'_>, histogram: &Histogram) -> Option<Reason> {
    if histogram.pair_count != histogram.units {
        return Some(Reason::ReadingsDiffer { readings: histogram.pair_count, intervals: histogram.units });
    }
    if histogram.pair_sum == 0 && histogram.pair_count as f64 >= case.constants.many_readings {
        return Some(Reason::FreeReadings { readings: histogram.pair_count });
    }
    if histogram.span_counter == 0 || histogram.span_clock == 0 {
        return Some(Reason::NoSpan);
    }
    let inside = histogram.sum.saturating_add(histogram.pair_sum);
    (histogram.span_counter < inside).then_some(Reason::SpanTooShort { inside, span: histogram.span_counter })
}

/// Largest value of the bucket that begins here.
fn upper(histogram: &Histogram, lower: u64) -> u64 {
    let exact = 1_u64.checked_shl(histogram.bits).is_none_or(|edge| lower < edge);
    let width = if exact { 1 } else { 1_u64 << (lower.ilog2() - histogram.bits) };
    lower.saturating_add(width - 1)
}

/// What is left of the mean interval after the cost of reading the counter, and that cost; in
/// counter ticks.
fn left(histogram: &Histogram) -> (f64, f64) {
    let units = histogram.units.max(1) as f64;
    let pair = histogram.pair_sum as f64 / histogram.pair_count.max(1) as f64;
    (histogram.sum as f64 / units - pair, pair)
}

/// Why the rest of the interval is not a figure.
pub(super) fn below_resolution(case: &Case<'_>) -> Option<Reason> {
    if case.plan.variant.timing != Timing::Each {
        return None;
    }
    let histogram = case.transcript.histograms.iter().find(|h| h.phase == switchcost_model::Phase::Measure)?;
    let (left, reading) = left(histogram);
    let least = case.constants.resolution * reading;
    (left < least).then_some(Reason::BelowReading { left, reading, least: Some(least) })
}
