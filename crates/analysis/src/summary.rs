//! From the invocations of a variant to its row.

use crate::at::At;
use crate::judge::{turns_agree, went_another_way};
use crate::kinds::kinds;
use crate::series::{Series, has_rulers, ns_per_counter_tick, quantities, series};
use std::collections::{BTreeMap, BTreeSet};
use switchcost_model::number::nanoseconds;
use switchcost_model::{EndedBy, Evidence, Invocation, Judgement, Phase, Reason, Run, Timing, Variant, Verdict};
use switchcost_stats::{
    FEWEST, Interval, Mode, Shared, autocorrelation_of_ranks, mad, mean, median, quantile, sorted, widening,
};

/// Level of every interval.
pub(crate) const CONFIDENCE: f64 = 0.95;

/// The figures of a variant, per unit.
#[derive(Debug, Clone, PartialEq)]
pub struct Figures {
    /// Median of the invocations' medians.
    pub median: f64,
    /// 95 % interval of it; None with fewer than 6 invocations.
    pub interval: Option<Interval>,
    /// Mean of the invocations' means.
    pub mean: f64,
    /// Where the scheduler places: time-weighted, from the beginning of each start for as long as the shortest of them lasted.
    pub mean_over_time: Option<f64>,
    /// Cheapest batch. With `timing=each` this and the percentiles are of single intervals.
    pub min: f64,
    /// Median of all batches.
    pub p50: f64,
    /// 90th percentile of batches.
    pub p90: f64,
    /// 99th percentile of batches.
    pub p99: f64,
    /// 99.9th percentile of batches.
    pub p999: f64,
    /// Most expensive batch.
    pub max: f64,
    /// Median absolute deviation of the invocations' medians.
    pub mad: f64,
    /// With `timing=each`: what reading the counter costs.
    pub reading: Option<Reading>,
}

impl Figures {
    /// Half of the interval, as a fraction of the median.
    #[must_use]
    pub fn half_width(&self) -> Option<f64> {
        Some(self.interval?.relative_half_width(self.median))
    }
}

/// What `timing=each` reads the counter with.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// Mean of two back-to-back reads in the same loop, ns; already taken off `median` and `mean` of the figures, not off the rest.
    pub pair: f64,
    /// ns in one tick of the counter, as measured.
    pub tick: f64,
}

/// Kernel switches per unit over all counted invocations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KernelRate {
    /// Voluntary + involuntary, per unit.
    pub per_unit: f64,
    /// Share of them that was involuntary.
    pub involuntary_share: f64,
}

/// Everything known of one variant of a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Summary {
    /// Figures; None if no invocation gave any.
    pub figures: Option<Figures>,
    /// Medians of the counted invocations with their rounds, ns per unit.
    pub invocation_medians: Vec<(u64, f64)>,
    /// Their means with their rounds, for sums.
    pub invocation_means: Vec<(u64, f64)>,
    /// Of what is not time: each named part per unit, median over invocations.
    pub parts: BTreeMap<String, f64>,
    /// Batches (or intervals) behind the figures.
    pub samples: u64,
    /// Batches left out as warm-up beyond the planned one.
    pub warmup_batches: u64,
    /// Invocations without a steady part.
    pub unsteady: usize,
    /// Correlation of each start with the next, for which the interval is widened where it is above 0.
    pub alike: f64,
    /// What all rows of the run know of it.
    pub shared: Shared,
    /// The interval is as narrow as was asked for, by the rule of [`crate::LOOKS`].
    pub precise: bool,
    /// Kinds of starts, or of batches, cheapest first; empty where one number stands for the row.
    pub modes: Vec<Mode>,
    /// The kinds are of batches: a start goes from one to the other.
    pub modes_within: bool,
    /// Invocations left out because something disturbed them.
    pub disturbed: usize,
    /// Disturbed ones that count, since too few others are left.
    pub disturbed_counted: usize,
    /// Their medians with their rounds, for what is formed round by round and lacks rounds without them.
    pub disturbed_medians: Vec<(u64, f64)>,
    /// How many invocations are left out because they went another way than the row names, and what the first of them did.
    pub other_ways: Option<(usize, Reason)>,
    /// Kernel switches.
    pub kernel: Option<KernelRate>,
    /// Counts of the evidence per unit, each with the rounds of the counted invocations; `voluntary` and `involuntary` are the kernel switches.
    pub counts: BTreeMap<String, Vec<(u64, f64)>>,
    /// What the probe remarked, each remark once.
    pub remarks: BTreeSet<String>,
    /// Largest resident set of the probe, bytes.
    pub peak_rss_bytes: u64,
    /// CPUs on which a context was seen.
    pub cpus: BTreeSet<u32>,
    /// Share of hops that stayed on one CPU. Where the scheduler places, hops after the batches say nothing of those in them and are left out.
    pub same_cpu_share: Option<f64>,
    /// Share of hops that stayed on one thread of the operating system.
    pub same_thread_share: Option<f64>,
    /// All turns and tokens add up; None if no invocation reported them.
    pub turns_ok: Option<bool>,
    /// MAD of batches within an invocation, median over invocations, as a fraction of the median.
    pub spread_within: f64,
}

impl Summary {
    /// Reading the counter costs no more than twice what is left without it.
    #[must_use]
    pub fn resolved(&self) -> bool {
        let figures = self.figures.as_ref();
        figures
            .is_none_or(|figures| figures.reading.as_ref().is_none_or(|reading| figures.median >= reading.pair / 2.0))
    }

    /// How many times as wide the interval is because starts follow one another.
    #[must_use]
    pub fn widened(&self) -> f64 {
        widening(self.alike, self.invocation_medians.len(), &self.shared)
    }

    /// `1.18 (68 %) or 1.35 (32 %)`; None where one number stands for the row.
    #[must_use]
    pub fn modes_phrase(&self) -> Option<String> {
        modes_phrase(&self.modes)
    }
}

/// The same of any modes.
pub(crate) fn modes_phrase(modes: &[Mode]) -> Option<String> {
    let phrase = |mode: &Mode| format!("{} ({:.0} %)", nanoseconds(mode.value), mode.weight * 100.0);
    (!modes.is_empty()).then(|| modes.iter().map(phrase).collect::<Vec<_>>().join(" or "))
}

/// Without the figures of a row that is below what its clock resolves.
pub(crate) fn measured(mut summary: Summary, reason: Option<&Reason>) -> Summary {
    if reason.is_some_and(Reason::below_resolution) {
        summary.figures = None;
    }
    summary
}

/// Starts that went another way than the row names. None where they are not fewer than half: then that is what the mechanism does. They have no
/// figure, so that those of the row are of the others.
fn other_ways(invocations: &[&Invocation]) -> Option<(usize, Reason)> {
    let others: Vec<&Judgement> = invocations.iter().map(|i| &i.judgement).filter(|j| went_another_way(j)).collect();
    let Some(Reason::OtherWay { instead }) = &others.first()?.reason else { return None };
    (others.len() * 2 < invocations.len()).then(|| (others.len(), (**instead).clone()))
}

/// The verdict on a row and its reason. The worst of its starts counts: one lie is enough to distrust the teller.
#[must_use]
pub fn verdict_of(run: &Run, index: usize, invocations: &[&Invocation]) -> Judgement {
    if let Some(reason) = run.not_run.get(&index) {
        return Judgement::new(Verdict::Unsupported, reason.clone());
    }
    // A start that the host was too late to look at says nothing against those that it looked at.
    let as_named = other_ways(invocations).is_some();
    let fits = |i: &&&Invocation| !(as_named && went_another_way(&i.judgement));
    let invocations: Vec<&Invocation> = invocations.iter().filter(fits).copied().collect();
    let looked_at: Vec<&&Invocation> =
        invocations.iter().filter(|i| i.judgement.reason != Some(Reason::NotLookedAt)).collect();
    let speaking = if looked_at.is_empty() { invocations.iter().collect() } else { looked_at };
    let Some(worst) = speaking.into_iter().max_by_key(|i| i.judgement.verdict) else {
        let reason = match run.ended_by {
            EndedBy::Interrupt => Reason::Interrupted,
            EndedBy::Unfinished => Reason::NotYet,
            _ => Reason::NoBudget,
        };
        return Judgement::new(Verdict::Unmeasured, reason);
    };
    let Judgement { verdict, reason } = worst.judgement.clone();
    let starts = invocations.iter().filter(|i| i.judgement.verdict == verdict).count();
    let of = invocations.len();
    let in_some = |reason| Reason::InSomeStarts { reason: Box::new(reason), starts, of };
    Judgement { verdict, reason: if starts == of { reason } else { reason.map(in_some) } }
}

/// Figures and evidence of one variant from its invocations, each of which `at` stands for, but for the interval, which [`crate::settled`] makes of all rows together.
#[must_use]
pub fn summarise(variant: &Variant, invocations: &[&Invocation], at: At) -> Summary {
    let (counted, disturbed) = counted(invocations);
    let form = |invocations: &[&Invocation]| {
        if variant.each_unit() {
            intervals(invocations, variant.timing == Timing::Each, at)
        } else if at == At::Median {
            batches(invocations, variant.placement.may_move())
        } else {
            Summary::default() // A batch is an average, and has no percentile.
        }
    };
    let mut summary = form(&counted);
    summary.alike = autocorrelation_of_ranks(&in_time(&summary.invocation_medians));
    summary.disturbed = disturbed.len();
    summary.disturbed_counted = counted.iter().filter(|one| !one.disturbances.is_empty()).count();
    summary.disturbed_medians = form(&disturbed).invocation_medians;
    summary.other_ways = other_ways(invocations);
    summary.parts = parts(&counted);
    summary.counts = counts(&counted);
    summary.peak_rss_bytes = invocations.iter().map(|invocation| invocation.peak_rss_bytes).max().unwrap_or(0);
    summary.remarks = counted.iter().flat_map(|invocation| invocation.transcript.notes.iter().cloned()).collect();
    evidence_of(variant, invocations, &mut summary);
    summary
}

/// The values of starts with their rounds.
pub(crate) fn in_time(starts: &[(u64, f64)]) -> Vec<f64> {
    starts.iter().map(|&(_, value)| value).collect()
}

/// The invocations that figures are made of, and those that are left out as disturbed.
#[must_use]
pub fn counted<'a>(invocations: &[&'a Invocation]) -> (Vec<&'a Invocation>, Vec<&'a Invocation>) {
    let answered: Vec<&Invocation> = invocations
        .iter()
        .copied()
        .filter(|i| matches!(i.judgement.verdict, Verdict::Verified | Verdict::Unobservable))
        .collect();
    let (quiet, disturbed): (Vec<&Invocation>, Vec<&Invocation>) =
        answered.iter().partition(|i| i.disturbances.is_empty());
    // Undisturbed ones are preferred as long as enough of them are left for an interval.
    if quiet.len() >= FEWEST { (quiet, disturbed) } else { (answered, Vec::new()) }
}

fn parts(invocations: &[&Invocation]) -> BTreeMap<String, f64> {
    let mut all: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for (quantity, value) in invocations.iter().flat_map(|invocation| quantities(&invocation.transcript)) {
        all.entry(quantity).or_default().push(value);
    }
    all.into_iter().filter_map(|(quantity, values)| Some((quantity, median(&values)?))).collect()
}

fn counts(invocations: &[&Invocation]) -> BTreeMap<String, Vec<(u64, f64)>> {
    let mut all: BTreeMap<String, Vec<(u64, f64)>> = BTreeMap::new();
    for invocation in invocations {
        let Some(evidence) = invocation.transcript.evidence.as_ref().filter(|evidence| evidence.units > 0) else {
            continue;
        };
        let mut add = |name: &str, count: f64| {
            all.entry(name.to_owned()).or_default().push((invocation.round, count / evidence.units as f64));
        };
        if let Some(kernel) = &evidence.kernel {
            add("voluntary", kernel.voluntary as f64);
            add("involuntary", kernel.involuntary as f64);
        }
        evidence.counts.iter().for_each(|(name, count)| add(name, *count as f64));
    }
    all
}

/// Figures of batches. Kinds within starts are told by all of them where the scheduler places or no ruler is there, otherwise by the undisturbed ones, which
/// the run's rulers know.
fn batches(invocations: &[&Invocation], free: bool) -> Summary {
    let within = free || !has_rulers(invocations);
    let all: Vec<(u64, Series)> =
        invocations.iter().map(|i| (i.round, series(i))).filter(|(_, s)| !s.values.is_empty()).collect();
    let medians: Vec<(u64, f64)> =
        all.iter().filter_map(|(round, series)| Some((*round, median(series.settled())?))).collect();
    let means: Vec<(u64, f64)> =
        all.iter().filter_map(|(round, series)| Some((*round, mean(series.settled())?))).collect();
    let pooled = sorted(&all.iter().flat_map(|(_, series)| series.settled().iter().copied()).collect::<Vec<_>>());
    let spreads: Vec<f64> =
        all.iter().filter_map(|(_, s)| Some(mad(s.settled())? / median(s.settled())?.abs())).collect();
    let (least, most) = (pooled.first().copied(), pooled.last().copied());
    let figures = figures(&medians, &means, (least, most), |p| quantile(&pooled, p))
        .map(|figures| Figures { mean_over_time: mean_over_time(&all).filter(|_| free), ..figures });
    let settled: Vec<&[f64]> = all.iter().map(|(_, series)| series.settled()).filter(|_| within).collect();
    let (modes, modes_within) = kinds(&medians.iter().map(|&(_, value)| value).collect::<Vec<_>>(), &settled);
    Summary {
        figures,
        samples: pooled.len() as u64,
        warmup_batches: all.iter().map(|(_, series)| series.warmup as u64).sum(),
        unsteady: all.iter().filter(|(_, series)| !series.steady).count(),
        spread_within: median(&spreads).unwrap_or(0.0),
        invocation_medians: medians,
        modes,
        modes_within,
        invocation_means: means,
        ..Summary::default()
    }
}

/// Each ns alike. A start that goes from one mode to another lasts up to a hundred times as long, and its batches count the modes by units; so all count for
/// as long as the shortest.
fn mean_over_time(all: &[(u64, Series)]) -> Option<f64> {
    let shortest = all.iter().map(|(_, series)| series.lasted.iter().sum()).min_by(f64::total_cmp)?;
    mean(&all.iter().map(|(_, series)| series.mean_over(shortest)).collect::<Vec<_>>())
}

fn figures(
    medians: &[(u64, f64)],
    means: &[(u64, f64)],
    (min, max): (Option<f64>, Option<f64>),
    percentile: impl Fn(f64) -> Option<f64>,
) -> Option<Figures> {
    let values = sorted(&medians.iter().map(|&(_, value)| value).collect::<Vec<_>>());
    Some(Figures {
        median: quantile(&values, 0.5)?,
        interval: None,
        mean: mean(&means.iter().map(|&(_, value)| value).collect::<Vec<_>>())?,
        min: min?,
        p50: percentile(0.5)?,
        p90: percentile(0.9)?,
        p99: percentile(0.99)?,
        p999: percentile(0.999)?,
        max: max?,
        mad: mad(&values)?,
        mean_over_time: None,
        reading: None,
    })
}

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

fn intervals(invocations: &[&Invocation], by_counter: bool, at: At) -> Summary {
    let all: Vec<Intervals> = invocations.iter().filter_map(|i| intervals_of(i)).filter(|i| i.count > 0).collect();
    let carrying = all.iter().filter(|i| at.carried_by(i.count));
    let medians: Vec<(u64, f64)> =
        carrying.filter_map(|i| Some((i.round, weighted_quantile(&i.buckets, at.share())? - i.pair))).collect();
    let means: Vec<(u64, f64)> = all.iter().map(|i| (i.round, i.mean - i.pair)).collect();
    let mut pooled: Vec<(f64, u64)> = all.iter().flat_map(|i| i.buckets.iter().copied()).collect();
    pooled.sort_by(|a, b| a.0.total_cmp(&b.0));
    let least = all.iter().map(|i| i.min - i.pair).min_by(f64::total_cmp);
    let most = all.iter().map(|i| i.max - i.pair).max_by(f64::total_cmp);
    let of = |get: fn(&Intervals) -> f64| mean(&all.iter().map(get).collect::<Vec<_>>());
    let reading = of(|i| i.pair).zip(of(|i| i.scale)).filter(|_| by_counter).map(|(pair, tick)| Reading { pair, tick });
    // Off all figures of a row, or its minimum would lie above its median.
    let pair = reading.as_ref().map_or(0.0, |reading| reading.pair);
    let figures = figures(&medians, &means, (least, most), |p| Some(weighted_quantile(&pooled, p)? - pair));
    Summary {
        figures: figures.map(|figures| Figures { reading, ..figures }),
        samples: total(all.iter().map(|i| i.count)),
        invocation_medians: medians,
        invocation_means: means,
        ..Summary::default()
    }
}

fn evidence_of(variant: &Variant, invocations: &[&Invocation], summary: &mut Summary) {
    let all: Vec<&Evidence> = invocations.iter().filter_map(|i| i.transcript.evidence.as_ref()).collect();
    let (mut units, mut voluntary, mut involuntary) = (0.0, 0.0, 0.0);
    let mut same_cpu = Share::default();
    let mut same_thread = Share::default();
    for evidence in &all {
        if let Some(kernel) = &evidence.kernel {
            units += evidence.units as f64;
            voluntary += kernel.voluntary as f64;
            involuntary += kernel.involuntary as f64;
        }
        if let Some(hops) = &evidence.hops {
            if hops.timed || !variant.placement.may_move() {
                same_cpu.add(hops.same_cpu, hops.count);
            }
            if let Some(same) = hops.same_thread {
                same_thread.add(same, hops.count);
            }
        }
        summary.cpus.extend(evidence.cpus.iter().flatten());
    }
    let total = voluntary + involuntary;
    summary.kernel = (units > 0.0).then(|| KernelRate {
        per_unit: total / units,
        involuntary_share: if total > 0.0 { involuntary / total } else { 0.0 },
    });
    summary.same_cpu_share = same_cpu.value();
    summary.same_thread_share = same_thread.value();
    let counted: Vec<bool> = all.iter().filter_map(|evidence| turns_agree(variant.experiment, evidence)).collect();
    summary.turns_ok = (!counted.is_empty()).then(|| counted.iter().all(|&fine| fine));
}

/// A share of hops over several invocations.
#[derive(Default)]
struct Share {
    part: f64,
    whole: f64,
}

impl Share {
    fn add(&mut self, part: u64, whole: u64) {
        self.part += part as f64;
        self.whole += whole as f64;
    }

    fn value(&self) -> Option<f64> {
        (self.whole > 0.0).then(|| self.part / self.whole)
    }
}
