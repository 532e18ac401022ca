//! What the rulers say: fixed pieces of work, timed right before and right after each batch, that
//! have nothing to do with the mechanism.
//!
//! A neighbour on a shared host slows whole minutes and leaves nothing in the system's own
//! counters. It slows the rulers as well. As they are independent of the row, choosing batches by
//! them does not select on the outcome.

use crate::clock::{INTERRUPTED, at_one_clock};
use crate::judge::in_no_figure;
use crate::kinds::kinds;
use crate::percentile::in_time;
use crate::series::series;
use std::collections::BTreeMap;
use switchcost_model::{Invocation, Phase, Run};
use switchcost_stats::{FEWEST, Interval, Mode, Shared, median, quantile, sorted};

/// A ruler that took so much longer than the machine's best says that the machine was slowed. On a
/// quiet machine readings of 270 ns are up to 8 % apart, in steps of the clock; with a neighbour on
/// the core they are 40 % more (docs/notebook/2026-11-23-rulers.md).
pub const SLOWED: f64 = 1.15;

/// The ruler that a neighbour on the core slows, and the clock.
pub const CORE: &str = "width";

/// The ruler that the clock alone slows.
pub const CLOCK: &str = "chain";

/// Rulers that batches are chosen by, each with how many times its best it may take: the core at
/// one clock, and the clock within what clocks do. What system calls cost depends on the batch
/// before them as well: after those of thread/futex 800 ns, after others 680.
const CHOOSING: [(&str, f64); 2] = [(CORE, SLOWED), (CLOCK, INTERRUPTED)];

/// So many of a ruler's readings of a run are below its best: one may be short by a step of the
/// clock. No more, or a neighbour that is busy nearly always makes his state the best.
const BELOW_BEST: usize = 2;

/// Share of a run's batches that had the clock at which its figures are given, or a faster one. A
/// median would flip between runs of a clock that is fast half of the time, and the best of a run
/// may be of a moment in which no row was measured.
const KEPT: f64 = 0.2;

/// Share of slowed batches above which a row without undisturbed starts is not to be believed
/// beyond its run.
const MOSTLY: f64 = 0.5;

/// Batches beside which the machine was fast, for a start to count.
const FEWEST_BATCHES: usize = 3;

/// What a ruler took in a run, ns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Speed {
    /// Where the machine was fastest.
    pub best: f64,
    /// What it took at most beside the fastest fifth of the batches: the speed that the machine can
    /// keep, where the best may last for a moment only.
    pub kept: f64,
    /// Median over all batches; with the clock at its best, but of the clock's own.
    pub median: f64,
}

/// Probe → ruler → what it took in a run. A ruler is code of its probe, so that two probes'
/// readings are not the same thing.
pub type Speeds = BTreeMap<String, BTreeMap<String, Speed>>;

/// What the rulers of all batches of a run took.
#[must_use]
pub fn speeds(run: &Run) -> Speeds {
    // As they were read: at one clock the jitter of both readings would make the best.
    let best = |ticks: &Vec<f64>| {
        let (mut ticks, place) = (ticks.clone(), BELOW_BEST.min(ticks.len().checked_sub(1)?));
        Some(*ticks.select_nth_unstable_by(place, f64::total_cmp).1)
    };
    let raw = by_probe(run, &BTreeMap::new());
    let bests: BTreeMap<(&str, &str), f64> = raw.iter().filter_map(|(key, ticks)| Some((*key, best(ticks)?))).collect();
    let mut speeds = Speeds::new();
    for ((probe, name), ticks) in by_probe(run, &bests) {
        let ticks = sorted(&ticks);
        if let (Some(&best), Some(median)) = (bests.get(&(probe, name)), quantile(&ticks, 0.5)) {
            let kept = quantile(&ticks, KEPT).unwrap_or(median);
            speeds.entry(probe.to_owned()).or_default().insert(name.to_owned(), Speed { best, kept, median });
        }
    }
    speeds
}

/// Probe and ruler → its readings beside all batches of a run, with the clock at its best where
/// that is known.
fn by_probe<'r>(run: &'r Run, bests: &BTreeMap<(&str, &str), f64>) -> BTreeMap<(&'r str, &'r str), Vec<f64>> {
    let mut all: BTreeMap<(&str, &str), Vec<f64>> = BTreeMap::new();
    for start in run.invocations.iter().filter(|start| !in_no_figure(start)) {
        let probe = run.variants[start.variant].probe.as_str();
        for (name, ticks) in readings(start, bests.get(&(probe, CLOCK)).copied()) {
            all.entry((probe, name)).or_default().extend(ticks);
        }
    }
    all
}

/// The ruler, of those that batches are chosen by, that was slowed most beside the median batch,
/// and how many times its best it took.
#[must_use]
pub fn slowest(speeds: &Speeds) -> Option<(&str, f64)> {
    let all = speeds.values().flatten().filter(|(name, _)| CHOOSING.iter().any(|(own, _)| own == name));
    all.map(|(name, speed)| (name.as_str(), speed.median / speed.best)).max_by(|a, b| a.1.total_cmp(&b.1))
}

/// Each ruler's ns beside the measured batches, in order. All but the clock's own as they would be
/// with the clock at its best, if that is given: else a slower clock would pass for a neighbour.
fn readings(invocation: &Invocation, best_clock: Option<f64>) -> BTreeMap<&str, Vec<f64>> {
    let transcript = &invocation.transcript;
    let ns_per_tick = transcript.hello.as_ref().map_or(1.0, |hello| 1e9 / hello.clock.ticks_per_second as f64);
    let mut all: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for samples in transcript.samples.iter().filter(|samples| samples.phase == Phase::Measure) {
        for (name, ticks) in &samples.rulers {
            all.entry(name).or_default().extend(ticks.iter().map(|&ticks| ticks as f64 * ns_per_tick));
        }
    }
    if let Some((best, clock)) = best_clock.zip(all.get(CLOCK).cloned()) {
        for (_, ticks) in all.iter_mut().filter(|(name, _)| **name != CLOCK) {
            for (ticks, clock) in ticks.iter_mut().zip(&clock).filter(|(_, clock)| **clock <= best * INTERRUPTED) {
                *ticks *= best / clock;
            }
        }
    }
    all
}

/// Why a row's figure is of all its batches, whatever its rulers say of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Distrust {
    /// The clock's ruler took so much longer beside this row than beside the others of its rounds,
    /// as a logarithm: more than any machine makes.
    Unconfirmed(f64),
    /// All readings of the clock's ruler are one number, in steps far finer than it.
    Constant,
    /// The clock's ruler is the cost in another unit, to within a step of the clock: it was not
    /// timed by itself. In the kept runs the two are at least 3 steps apart.
    Proportional,
}

/// The figure of a row by those batches beside which the machine was as fast as it gets in this
/// run; if the row follows the clock, at the clock that it kept ([`Speed::kept`]).
#[derive(Debug, Clone, PartialEq)]
pub struct Undisturbed {
    /// Share of the counted starts' batches beside which it was slowed.
    pub slowed: f64,
    /// Ruler → its median beside these batches ÷ its best: by how much.
    pub rulers: BTreeMap<String, f64>,
    /// Median over starts of the median of their undisturbed batches; None: no start has enough of
    /// them.
    pub median: Option<f64>,
    /// 95 % interval of it, made by [`crate::settled`]; None with fewer than 6 such starts.
    pub interval: Option<Interval>,
    /// What all rows of the run know of how much each such start is like the one before.
    pub shared: Shared,
    /// Median of the undisturbed batches of each start that has enough of them, with its round.
    pub starts: Vec<(u64, f64)>,
    /// Median of these batches of each start as they were read, with its round, and what the ruler
    /// that the clock alone slows took beside them, ns; None: the probe has none.
    pub as_read: Vec<(u64, f64, Option<f64>)>,
    /// Kinds of these starts, or of their undisturbed batches; empty where one number stands for
    /// them.
    pub modes: Vec<Mode>,
    /// Whether the row follows the clock; None: not to be told.
    pub follows_clock: Option<bool>,
    /// What may have to be taken off the figure, as a logarithm, where that is not to be told: with
    /// contexts on one CPU it is given at the clock that the run kept, as most such rows are right,
    /// else as it was read. The interval reaches as far.
    pub open: f64,
    /// The kinds are of batches.
    pub modes_within: bool,
    /// The cheapest of these batches.
    pub least: f64,
    /// Why these batches make no figure; set by [`crate::settled`].
    pub distrust: Option<Distrust>,
}

impl Undisturbed {
    /// The figure of all batches lies above the interval of the undisturbed ones: the row was
    /// slowed, by this factor.
    #[must_use]
    pub fn factor(&self, median: f64) -> Option<f64> {
        let (own, interval) = (self.median?, self.interval?);
        (median > interval.high).then(|| median / own)
    }

    /// The machine was slowed beside most batches, and too few starts have others: nobody knows
    /// what the row costs undisturbed.
    #[must_use]
    pub fn lacking(&self) -> Option<String> {
        (self.slowed > MOSTLY && !self.enough()).then(|| {
            let rulers: Vec<String> = self.rulers.iter().map(|(name, times)| format!("{name} ×{times:.2}")).collect();
            format!("the machine was slowed beside {:.0} % of its batches ({})", self.slowed * 100.0, rulers.join(", "))
        })
    }

    /// Enough undisturbed starts for an interval.
    #[must_use]
    pub fn enough(&self) -> bool {
        self.starts.len() >= FEWEST
    }
}

/// The undisturbed figure of a row from its counted starts, but for its interval; None: its probe
/// has no rulers.
#[must_use]
pub fn undisturbed(starts: &[&Invocation], best: Option<&BTreeMap<String, Speed>>) -> Option<Undisturbed> {
    let best = best?;
    let clock = best.get(CLOCK).map(|speed| speed.kept);
    let (mut all, mut slow) = (0_usize, 0_usize);
    let mut beside: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    let mut kept: Vec<(u64, Vec<(f64, f64)>)> = Vec::new();
    for &start in starts {
        let series = series(start);
        let rulers = readings(start, best.get(CLOCK).map(|speed| speed.best));
        let fast = |batch: usize| {
            CHOOSING.iter().all(|(name, limit)| {
                let reading = rulers.get(name).and_then(|ticks| ticks.get(batch));
                best.get(*name).zip(reading).is_none_or(|(speed, ns)| *ns <= speed.best * limit)
            })
        };
        let times = |batch: usize| Some(rulers.get(CLOCK)?.get(batch)? / clock?);
        if rulers.values().any(|ticks| ticks.len() != series.values.len()) {
            continue;
        }
        let settled = series.warmup..series.values.len();
        let chosen: Vec<(f64, f64)> = settled
            .clone()
            .filter(|batch| fast(*batch))
            .map(|batch| (series.values[batch], times(batch).unwrap_or(1.0)))
            .collect();
        all += settled.len();
        slow += settled.len() - chosen.len();
        for (name, ticks) in &rulers {
            if let Some(speed) = best.get(*name).filter(|speed| speed.best > 0.0) {
                let own = beside.entry((*name).to_owned()).or_default();
                own.extend(ticks.iter().map(|ns| ns / speed.best));
            }
        }
        if chosen.len() >= FEWEST_BATCHES {
            kept.push((start.round, chosen));
        }
    }
    let on_one_cpu = starts.iter().all(|start| start.transcript.plan.as_ref().is_some_and(|plan| plan.cpus.len() == 1));
    let as_read = kept.iter().filter_map(|(round, batches)| {
        let middle = |of: fn(&(f64, f64)) -> f64| median(&batches.iter().map(of).collect::<Vec<_>>());
        Some((
            *round,
            middle(|(cost, _)| *cost)?,
            clock.zip(middle(|(_, times)| *times)).map(|(kept, times)| kept * times),
        ))
    });
    let as_read = as_read.collect();
    let found = at_one_clock(kept, clock.is_some(), on_one_cpu);
    let starts_medians: Vec<(u64, f64)> =
        found.starts.iter().filter_map(|(round, batches)| Some((*round, median(batches)?))).collect();
    let values = in_time(&starts_medians);
    let batches: Vec<&[f64]> = found.starts.iter().map(|(_, batches)| batches.as_slice()).collect();
    let (modes, modes_within) = kinds(&values, &batches);
    (all > 0 && !beside.is_empty()).then(|| Undisturbed {
        slowed: slow as f64 / all as f64,
        rulers: beside.into_iter().filter_map(|(name, factors)| Some((name, median(&factors)?))).collect(),
        median: median(&values),
        interval: None,
        shared: Shared::default(),
        modes,
        modes_within,
        least: batches.iter().copied().flatten().copied().fold(f64::INFINITY, f64::min),
        starts: starts_medians,
        follows_clock: found.follows,
        open: found.open,
        as_read,
        distrust: None,
    })
}

/// What the ruler that the clock alone slows took beside the settled batches of a start, ns. None:
/// its probe has none.
#[must_use]
pub fn clock_beside(start: &Invocation) -> Option<f64> {
    let series = series(start);
    let settled = readings(start, None).remove(CLOCK)?.into_iter().take(series.values.len()).skip(series.warmup);
    median(&settled.collect::<Vec<_>>()).filter(|ns| *ns > 0.0)
}

/// What the core gave a run where it was most free: [`CORE`] at its best, in times of [`CLOCK`] at
/// its best.
///
/// The clock's rate is in both, and the price of a system call in neither: these a user changes by
/// settings and kernels, and wants to see compared. Where a probe's rulers do not tell the two
/// apart, another probe's of the same run do.
#[must_use]
pub fn core<'s>(speeds: &'s Speeds, probe: &'s str) -> Option<(&'s str, f64)> {
    let of = |(probe, rulers): (&'s String, &'s BTreeMap<String, Speed>)| {
        Some((probe.as_str(), rulers.get(CORE)?.best / rulers.get(CLOCK)?.best))
    };
    speeds.get_key_value(probe).and_then(of).or_else(|| speeds.iter().find_map(of))
}

/// By how many times one is slower than the other; None where rulers vary as much.
#[must_use]
pub fn slower_core(core: f64, best: f64) -> Option<f64> {
    let times = core / best;
    (times > SLOWED).then_some(times)
}
