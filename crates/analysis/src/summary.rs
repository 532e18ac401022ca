//! From the invocations of a variant to its row.

use crate::at::At;
use crate::figures::{Figures, KernelRate, Summary, figures};
use crate::intervals::intervals;
use crate::judge::{Constants, below_reading, contradiction_of_row, in_no_figure, turns_agree, went_another_way};
use crate::kinds::{different, kinds};
use crate::percentile::in_time;
use crate::series::{Series, has_rulers, quantities, series};
use std::collections::BTreeMap;
use switchcost_model::{EndedBy, Evidence, Invocation, Judgement, Reason, Run, Timing, Variant, Verdict};
use switchcost_stats::{FEWEST, autocorrelation_of_ranks, mad, mean, median, quantile, sorted};

/// Without the figures of a row whose reason is that it has none.
pub(crate) fn measured(mut summary: Summary, reason: Option<&Reason>) -> Summary {
    if reason.is_some_and(Reason::no_figure) {
        summary.figures = None;
        summary.modes.clear();
        summary.percentiles.clear();
    }
    summary
}

/// Starts that went another way than the row names. None where they are not fewer than half: then
/// that is what the mechanism does. They have no figure, so that those of the row are of the
/// others.
fn other_ways(invocations: &[&Invocation]) -> Option<(usize, Reason)> {
    let others: Vec<&Judgement> = invocations.iter().map(|i| &i.judgement).filter(|j| went_another_way(j)).collect();
    let Some(Reason::OtherWay { instead }) = &others.first()?.reason else { return None };
    (others.len() * 2 < invocations.len()).then(|| (others.len(), (**instead).clone()))
}

/// The verdict on a row and its reason. The worst of its starts counts: one lie is enough to
/// distrust the teller. In a run that somebody traced no start accuses anybody: he may have come
/// and gone between two looks at it. Who watches without stopping it makes the CPU time around
/// batches as dear as he likes, and no count less true.
#[must_use]
pub fn verdict_of(constants: &Constants, run: &Run, index: usize, invocations: &[&Invocation]) -> Judgement {
    let judgement = of_starts(constants, run, index, invocations);
    if judgement.verdict != Verdict::Contradicted {
        return judgement;
    }
    let tracer = run.invocations.iter().find_map(|start| start.seen.as_ref()?.tracer());
    let traced = tracer.map(|by| Reason::Traced { by: by.to_owned() });
    let watched = || {
        let by = Some(run.machine.watchers_beside()).filter(|by| !by.is_empty())?;
        judgement.reason.as_ref().is_some_and(Reason::of_time).then_some(Reason::Watched { by })
    };
    match traced.or_else(watched) {
        Some(reason) => Judgement::new(Verdict::Unobservable, reason),
        None => judgement,
    }
}

fn of_starts(constants: &Constants, run: &Run, index: usize, invocations: &[&Invocation]) -> Judgement {
    if let Some(reason) = run.not_run.get(&index) {
        return Judgement::new(Verdict::Unsupported, reason.clone());
    }
    // A start that the host was too late to look at, or that it could not hold against enough of a
    // control, says nothing against the others. Nor does one with a preempted reading of the
    // counter, while most have none: the rule of the row takes their median.
    let as_named = other_ways(invocations).is_some();
    let fits = |i: &&&Invocation| !(as_named && went_another_way(&i.judgement));
    let invocations: Vec<&Invocation> = invocations.iter().filter(fits).copied().collect();
    let below = |i: &Invocation| matches!(i.judgement.reason, Some(Reason::BelowReading { .. }));
    let few_below = 2 * invocations.iter().filter(|i| below(i)).count() < invocations.len();
    let looked_at: Vec<&&Invocation> = invocations
        .iter()
        .filter(|i| !matches!(i.judgement.reason, Some(Reason::NotLookedAt | Reason::NearControl { .. })))
        .filter(|i| !(few_below && below(i)))
        .collect();
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
    if matches!(verdict, Verdict::Verified | Verdict::Unobservable)
        && let Some(reason) = contradiction_of_row(constants, run, &invocations)
    {
        return Judgement::new(Verdict::Contradicted, reason);
    }
    if verdict == Verdict::Verified
        && let Some(reason) = below_reading(constants, run, &invocations)
    {
        return Judgement::new(Verdict::Unobservable, reason);
    }
    let starts = invocations.iter().filter(|i| i.judgement.verdict == verdict).count();
    let of = invocations.len();
    // The figure is of all starts: of those that were looked at it would be of the slow ones.
    let unseen = invocations.iter().filter(|i| i.judgement.reason == Some(Reason::NotLookedAt)).count();
    let few_seen = ((of - unseen) as f64) <= constants.seen_share * of as f64;
    if verdict == Verdict::Verified && few_seen {
        let reason = Reason::InSomeStarts { reason: Box::new(Reason::NotLookedAt), starts: unseen, of };
        return Judgement::new(Verdict::Unobservable, reason);
    }
    let in_some = |reason| Reason::InSomeStarts { reason: Box::new(reason), starts, of };
    Judgement { verdict, reason: if starts == of { reason } else { reason.map(in_some) } }
}

/// Figures and evidence of one variant from its invocations, each of which `at` stands for, but for
/// the interval, which [`crate::settled`] makes of all rows together.
#[must_use]
pub fn summarise(variant: &Variant, invocations: &[&Invocation], at: At) -> Summary {
    let (counted, disturbed) = counted(invocations);
    let form = |invocations: &[&Invocation]| {
        if variant.each_unit() {
            intervals(invocations, variant.timing == Timing::Each, at)
        } else if at == At::Median {
            batches(invocations, variant.placement.may_move(), variant.experiment.quantity.exact)
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

/// The invocations that figures are made of, and those that are left out as disturbed.
#[must_use]
pub fn counted<'a>(invocations: &[&'a Invocation]) -> (Vec<&'a Invocation>, Vec<&'a Invocation>) {
    let answered: Vec<&Invocation> = invocations
        .iter()
        .copied()
        .filter(|i| matches!(i.judgement.verdict, Verdict::Verified | Verdict::Unobservable))
        .filter(|i| !in_no_figure(i))
        .collect();
    let (quiet, disturbed): (Vec<&Invocation>, Vec<&Invocation>) =
        answered.iter().partition(|i| i.disturbances.is_empty());
    let quiet = one_a_round(quiet);
    // Undisturbed ones are preferred as long as enough of them are left for an interval.
    if quiet.len() >= FEWEST { (quiet, disturbed) } else { (one_a_round(answered), Vec::new()) }
}

/// A round counts once: a disturbed start and its repeat, or the starts of a control that bounds
/// others, are one observation; the undisturbed one stands for it, or the last. Where the scheduler
/// places, a round has several starts of its own.
fn one_a_round(starts: Vec<&Invocation>) -> Vec<&Invocation> {
    let mut kept: Vec<&Invocation> = Vec::new();
    for start in starts {
        match kept.last_mut().filter(|last| last.round == start.round && !start.cpus.is_empty()) {
            Some(last) if last.disturbances.is_empty() && !start.disturbances.is_empty() => {}
            Some(last) => *last = start,
            None => kept.push(start),
        }
    }
    kept
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

/// Figures of batches. Where the scheduler places, or there is no ruler, all of them decide which
/// kinds there are within starts; otherwise the undisturbed ones, which the run's rulers know.
fn batches(invocations: &[&Invocation], free: bool, exact: bool) -> Summary {
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
    let values: Vec<f64> = medians.iter().map(|&(_, value)| value).collect();
    let (modes, modes_within) = if exact { (different(&values), false) } else { kinds(&values, &settled) };
    Summary {
        figures,
        samples: pooled.len() as u64,
        warmup_batches: all.iter().map(|(_, series)| series.warmup as u64).sum(),
        unsteady: all.iter().filter(|(_, series)| !series.steady).count(),
        spread_within: median(&spreads).unwrap_or(0.0),
        invocation_medians: medians,
        modes,
        modes_within,
        ..Summary::default()
    }
}

/// Each ns alike. A start that goes from one mode to another lasts up to a hundred times as long,
/// and its batches count the modes by units; so all count for as long as the shortest.
fn mean_over_time(all: &[(u64, Series)]) -> Option<f64> {
    let shortest = all.iter().map(|(_, series)| series.lasted.iter().sum()).min_by(f64::total_cmp)?;
    mean(&all.iter().map(|(_, series)| series.mean_over(shortest)).collect::<Vec<_>>())
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
