//! Figures of rows whose units each have one: from the histograms of starts to percentiles with
//! intervals.

use crate::at::At;
use crate::figures::{Figures, Reading, Summary, figures};
use crate::percentile::{LONGEST, Percentile};
use crate::series::ns_per_counter_tick;
use switchcost_model::{Invocation, Phase};
use switchcost_stats::mean;

/// Shares at which every row is given.
const SHARES: [f64; 5] = [0.5, 0.9, 0.99, 0.999, 0.9999];

/// One invocation's histogram in ns.
pub(crate) struct Intervals {
    round: u64,
    /// (middle of the bucket in ns, count), ascending.
    pub(crate) buckets: Vec<(f64, u64)>,
    count: u64,
    mean: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
    pub(crate) pair: f64,
    scale: f64,
}

impl Intervals {
    /// Raw, ns.
    pub(crate) fn quantile(&self, p: f64) -> Option<f64> {
        weighted_quantile(&self.buckets, p)
    }
}

/// A start's mean cost of reading the counter by that of the calmest start, from which on something
/// came between.
const PREEMPTED: f64 = 1.25;

pub(crate) fn intervals_of(invocation: &Invocation) -> Option<Intervals> {
    let transcript = &invocation.transcript;
    let histogram = transcript.histograms.iter().find(|h| h.phase == Phase::Measure)?;
    let scale = ns_per_counter_tick(histogram, transcript)?;
    let middle = |lower: u64| {
        let exact = 1_u64.checked_shl(histogram.bits).is_none_or(|edge| lower < edge);
        let width = if exact { 1 } else { 1_u64 << (lower.ilog2() - histogram.bits) };
        // Counter ticks are whole: a bucket of width 1 holds exactly its edge.
        (lower as f64 + (width - 1) as f64 / 2.0) * scale
    };
    Some(Intervals {
        round: invocation.round,
        buckets: histogram.buckets.iter().map(|&(lower, count)| (middle(lower), count)).collect(),
        count: histogram.units,
        mean: histogram.sum as f64 / histogram.units.max(1) as f64 * scale,
        min: histogram.min as f64 * scale,
        max: histogram.max as f64 * scale,
        pair: histogram.pair_sum as f64 / histogram.pair_count.max(1) as f64 * scale,
        scale,
    })
}

/// Median interval of a start, and what reading the counter cost it; in ticks of the counter.
pub(crate) fn middle_and_reading(invocation: &Invocation) -> Option<(f64, f64)> {
    let intervals = intervals_of(invocation)?;
    Some((intervals.quantile(0.5)? / intervals.scale, intervals.pair / intervals.scale))
}

/// Sum of counts; those of an imported file may be any.
fn total(counts: impl Iterator<Item = u64>) -> u64 {
    counts.fold(0, u64::saturating_add)
}

/// Smallest value with at least the share `p` of the counts at or below it.
fn weighted_quantile(buckets: &[(f64, u64)], p: f64) -> Option<f64> {
    let total = total(buckets.iter().map(|&(_, count)| count));
    let wanted = ((total as f64 * p).ceil() as u64).max(1);
    let mut seen = 0_u64;
    buckets.iter().find_map(|&(value, count)| {
        seen = count.saturating_add(seen);
        (seen >= wanted).then_some(value)
    })
}

/// Of each share what the starts have that carry it, less what reading the counter costs.
fn percentiles(all: &[Intervals]) -> Vec<Percentile> {
    let at = |share: f64| {
        let carrying = || all.iter().filter(|one| At::Percentile(share).carried_by(one.count) || share == 0.5);
        let of = |one: &Intervals| Some((one.round, one.quantile(share)? - one.pair));
        Percentile::new(share, total(carrying().map(|one| one.count)), carrying().filter_map(of).collect())
    };
    let longest = all.iter().map(|one| (one.round, one.max - one.pair)).collect();
    let longest = Percentile::new(LONGEST, total(all.iter().map(|one| one.count)), longest);
    SHARES.into_iter().filter_map(at).chain(longest).collect()
}

/// Figures of starts whose units were timed, or counted, one by one; `by_counter`: read with a
/// counter that costs something itself.
pub(crate) fn intervals(invocations: &[&Invocation], by_counter: bool, at: At) -> Summary {
    let mut all: Vec<Intervals> = invocations.iter().filter_map(|i| intervals_of(i)).filter(|i| i.count > 0).collect();
    // A start knows only the mean of its readings. One preemption between two of them moves it by
    // hundreds of ns and the median of the intervals by nothing: such a start takes the cost of the
    // calmest.
    let calm = all.iter().map(|i| i.pair).min_by(f64::total_cmp).unwrap_or(0.0);
    all.iter_mut().filter(|i| i.pair > calm * PREEMPTED).for_each(|i| i.pair = calm);
    let carrying = all.iter().filter(|i| at.carried_by(i.count));
    let medians: Vec<(u64, f64)> =
        carrying.filter_map(|i| Some((i.round, weighted_quantile(&i.buckets, at.share())? - i.pair))).collect();
    let means: Vec<(u64, f64)> = all.iter().map(|i| (i.round, i.mean - i.pair)).collect();
    let least = all.iter().map(|i| i.min - i.pair).min_by(f64::total_cmp).filter(|ns| *ns > 0.0 || !by_counter);
    let most = all.iter().map(|i| i.max - i.pair).max_by(f64::total_cmp);
    let of = |get: fn(&Intervals) -> f64| mean(&all.iter().map(get).collect::<Vec<_>>());
    let reading = of(|i| i.pair).zip(of(|i| i.scale)).filter(|_| by_counter).map(|(pair, tick)| Reading { pair, tick });
    let percentiles = percentiles(&all);
    let percentile = |share: f64| Some(percentiles.iter().find(|known| known.share == share)?.value);
    let figures = figures(&medians, &means, (least, most), percentile);
    Summary {
        figures: figures.map(|figures| Figures { reading, ..figures }),
        percentiles,
        samples: total(all.iter().map(|i| i.count)),
        invocation_medians: medians,
        ..Summary::default()
    }
}
