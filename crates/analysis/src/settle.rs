//! The intervals of a run's medians. Each takes all rows: what makes starts alike is the machine,
//! and the rows of a run know it together.

use crate::at::At;
use crate::distrust::distrust;
use crate::figures::{AsMeasured, Summary};
use crate::percentile::{CONFIDENCE, in_time};
use crate::rulers::{Speeds, Undisturbed, undisturbed};
use crate::summary::{counted, measured, summarise};
use switchcost_model::{Invocation, Variant};
use switchcost_stats::{Interval, Shared, autocorrelation_of_ranks, mad, shared, successive_median_interval, widening};

/// Starts at which a row is looked at, and the level of its interval if it ends there. A row that
/// ends at the first narrow moment is one of the lucky ones: at 95 % its interval would hold in 92
/// % of cases, in as few as 74 % where the rest has to go on. These levels bring it back
/// (docs/notebook/coverage.md).
pub const LOOKS: [(u64, f64); 5] = [(10, 0.98), (15, 0.97), (20, 0.965), (30, 0.96), (40, CONFIDENCE)];

/// A row so quiet that its 95 % interval takes up no more than this share of the target would have
/// ended whatever its luck.
const BEYOND_LUCK: f64 = 0.5;

/// Share of a row's starts that are nearly all of them.
const NEARLY_ALL: f64 = 0.75;

/// Summary and undisturbed figure of a row, with their intervals.
pub type Settled = (Summary, Option<Undisturbed>);

/// Those of each variant of a run. `starts`: of each variant, in order; `target`: the precision (a
/// fraction) at which rows of this run end, if they do; `at`: what stands for a start. The
/// scheduler's looks and every view come by their intervals here.
#[must_use]
pub fn settled(
    variants: &[Variant],
    starts: &[Vec<&Invocation>],
    speeds: &Speeds,
    target: Option<f64>,
    at: At,
) -> Vec<Settled> {
    let row = |(variant, starts): (&Variant, &Vec<&Invocation>)| {
        let clear = undisturbed(&counted(starts).0, speeds.get(&variant.probe));
        (summarise(variant, starts, at), clear.filter(|_| at == At::Median))
    };
    let mut rows: Vec<Settled> = variants.iter().zip(starts).map(row).collect();
    for ((_, clear), why) in rows.iter_mut().zip(distrust(variants, starts, speeds)) {
        clear.iter_mut().for_each(|clear| clear.distrust = why);
    }
    let medians = rows.iter().map(|(summary, _)| summary.invocation_medians.as_slice());
    let shared_by_all = shared(&medians.collect::<Vec<_>>());
    // Batches that a neighbour slowed are gone from these, and with them what he made alike or
    // unlike.
    let clear = rows.iter().filter_map(|(_, clear)| Some(clear.as_ref()?.starts.as_slice()));
    let shared_by_clear = shared(&clear.collect::<Vec<_>>());
    for (summary, clear) in &mut rows {
        summary.settle(shared_by_all, target);
        if let Some(clear) = clear {
            let precise = clear.settle(shared_by_clear, target);
            summary.rest_on(clear, precise);
        }
    }
    rows
}

/// A row as it is known before the others are, with the interval that it would have in a run of its
/// own: what is shown while a run goes on.
#[must_use]
pub fn by_itself(variant: &Variant, starts: &[&Invocation]) -> Summary {
    let mut summary = summarise(variant, starts, At::Median);
    summary.settle(Shared::default(), None);
    let reasons = starts.iter().filter_map(|start| start.judgement.reason.as_ref());
    measured(summary, reasons.reduce(|a, b| if a.no_figure() { a } else { b }))
}

impl Summary {
    /// Takes its interval from its starts and from what all rows share. `target` as in [`settled`].
    fn settle(&mut self, shared: Shared, target: Option<f64>) {
        self.shared = shared;
        self.widened = widening(self.alike, self.invocation_medians.len(), &shared);
        if let Some(figures) = &mut self.figures {
            let values = in_time(&self.invocation_medians);
            (figures.interval, self.precise) = interval(&values, figures.median, &shared, target);
        }
        self.percentiles.iter_mut().for_each(|percentile| percentile.settle(&shared));
        // In each start a higher percentile is at least as high, and so are the medians.
        let mut low = f64::NEG_INFINITY;
        for interval in self.percentiles.iter_mut().filter_map(|percentile| percentile.interval.as_mut()) {
            interval.low = interval.low.max(low).min(interval.high);
            low = interval.low;
        }
    }
}

impl Summary {
    /// Makes the undisturbed batches the row's headline, where they carry it. If starts fall into
    /// modes that their undisturbed batches do not show, nearly all of the starts must have some;
    /// else a mode may only have been left out. Modes within starts are of the scheduler or of a
    /// row without rulers, and stay.
    fn rest_on(&mut self, clear: &Undisturbed, precise: bool) {
        let nearly_all = clear.starts.len() as f64 >= NEARLY_ALL * self.invocation_medians.len() as f64;
        let hides = !self.modes.is_empty() && clear.modes.is_empty() && (self.modes_within || !nearly_all);
        let Some((figures, median)) = self.figures.as_mut().zip(clear.median) else { return };
        if !clear.enough() || hides || clear.distrust.is_some() {
            return;
        }
        let modes = std::mem::replace(&mut self.modes, clear.modes.clone());
        self.as_measured = Some(AsMeasured { median: figures.median, interval: figures.interval, modes });
        (figures.median, figures.interval) = (median, clear.interval);
        figures.mad = mad(&in_time(&clear.starts)).unwrap_or(figures.mad);
        figures.min = figures.min.map(|min| min.min(clear.least));
        (self.modes_within, self.precise) = (clear.modes_within, precise);
        self.alike = autocorrelation_of_ranks(&in_time(&clear.starts));
        self.widened = widening(self.alike, clear.starts.len(), &clear.shared);
    }
}

impl Undisturbed {
    /// The same of its undisturbed starts, and whether the row ends by it.
    fn settle(&mut self, shared: Shared, target: Option<f64>) -> bool {
        self.shared = shared;
        let Some(median) = self.median else { return false };
        let either_way = |interval: Interval| Interval {
            low: interval.low.min(interval.low * (-self.open).exp()),
            high: interval.high.max(interval.high * (-self.open).exp()),
        };
        let (interval, precise) = interval(&in_time(&self.starts), median, &shared, target);
        self.interval = interval.map(either_way);
        precise
    }
}

/// Interval of the median of starts in the order of time, and whether the row ends by it: then it
/// has the level of its look, unless the row is so quiet that luck plays no part.
fn interval(values: &[f64], median: f64, shared: &Shared, target: Option<f64>) -> (Option<Interval>, bool) {
    let level = LOOKS.iter().find(|(starts, _)| values.len() as u64 <= *starts).map_or(CONFIDENCE, |(_, level)| *level);
    let plain = successive_median_interval(values, CONFIDENCE, shared);
    let within = |interval: &Interval, share: f64| {
        target.is_some_and(|target| interval.relative_half_width(median) <= share * target)
    };
    if plain.is_some_and(|plain| within(&plain, BEYOND_LUCK)) {
        return (plain, true);
    }
    let sequential = successive_median_interval(values, level, shared).filter(|sequential| within(sequential, 1.0));
    (sequential.or(plain), sequential.is_some())
}
