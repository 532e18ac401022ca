//! The figures of a row, and all that is known of it.

use crate::percentile::Percentile;
use std::collections::{BTreeMap, BTreeSet};
use switchcost_model::number::nanoseconds;
use switchcost_model::{Reason, commonest_first};
use switchcost_stats::{Interval, Mode, Shared, mad, mean, quantile, sorted};

/// The figures of a variant, per unit.
#[derive(Debug, Clone, PartialEq)]
pub struct Figures {
    /// The headline, which every view gives: median of the starts' figures, by their undisturbed
    /// batches where enough starts have some, else by all.
    pub median: f64,
    /// 95 % interval of it; None with fewer than 6 such starts.
    pub interval: Option<Interval>,
    /// Mean of the invocations' means.
    pub mean: f64,
    /// Where the scheduler places: time-weighted, from the beginning of each start for as long as
    /// the shortest of them lasted.
    pub mean_over_time: Option<f64>,
    /// Cheapest batch. With `timing=each` this and the percentiles are of single intervals; None
    /// where reading the counter leaves nothing of the shortest.
    pub min: Option<f64>,
    /// Median of all batches.
    pub p50: f64,
    /// 90th percentile of batches; of single intervals that of a start, median over starts, None
    /// where they are too few to carry it.
    pub p90: Option<f64>,
    /// 99th, likewise.
    pub p99: Option<f64>,
    /// 99.9th, likewise.
    pub p999: Option<f64>,
    /// Most expensive batch.
    pub max: f64,
    /// Median absolute deviation of the starts' figures that the median is made of.
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

/// The figure of all batches as they were read.
#[derive(Debug, Clone, PartialEq)]
pub struct AsMeasured {
    /// Median of the starts' medians.
    pub median: f64,
    /// 95 % interval of it; None with fewer than 6 starts.
    pub interval: Option<Interval>,
    /// Kinds of starts, or of batches; empty where one number stands for the row.
    pub modes: Vec<Mode>,
}

/// What `timing=each` reads the counter with.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// Mean of two back-to-back reads in the same loop, ns; already taken off all figures.
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
    /// The same of all batches as they were read; None where the figures are of these themselves.
    pub as_measured: Option<AsMeasured>,
    /// Medians of the counted invocations with their rounds, ns per unit.
    pub invocation_medians: Vec<(u64, f64)>,
    /// Where each unit has a figure: percentiles of starts that these carry, lowest share first,
    /// the longest last.
    pub percentiles: Vec<Percentile>,
    /// Of what is not time: each named part per unit, median over invocations.
    pub parts: BTreeMap<String, f64>,
    /// Batches (or intervals) behind the figures.
    pub samples: u64,
    /// Batches left out as warm-up beyond the planned one.
    pub warmup_batches: u64,
    /// Invocations without a steady part.
    pub unsteady: usize,
    /// Correlation of each start with the next by the headline's figures, for which its interval is
    /// widened where it is above 0.
    pub alike: f64,
    /// What all rows of the run know of it, by their figures as measured.
    pub shared: Shared,
    /// How many times as wide the headline's interval is for it.
    pub widened: f64,
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
    /// Their medians with their rounds, for what is formed round by round and lacks rounds without
    /// them.
    pub disturbed_medians: Vec<(u64, f64)>,
    /// How many invocations are left out because they went another way than the row names, and what
    /// the first of them did.
    pub other_ways: Option<(usize, Reason)>,
    /// Kernel switches.
    pub kernel: Option<KernelRate>,
    /// Counts of the evidence per unit, each with the rounds of the counted invocations;
    /// `voluntary` and `involuntary` are the kernel switches.
    pub counts: BTreeMap<String, Vec<(u64, f64)>>,
    /// What the probe remarked, each remark once.
    pub remarks: BTreeSet<String>,
    /// Largest resident set of the probe, bytes.
    pub peak_rss_bytes: u64,
    /// CPUs on which a context was seen.
    pub cpus: BTreeSet<u32>,
    /// Share of hops that stayed on one CPU. Where the scheduler places, hops after the batches say
    /// nothing of those in them and are left out.
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

    /// Figure and share of each mode, the most frequent first.
    #[must_use]
    pub fn shares(&self) -> Vec<(f64, f64)> {
        shares(&self.modes)
    }

    /// `1.18 (68 %) or 1.35 (32 %)`; None where one number stands for the row.
    #[must_use]
    pub fn modes_phrase(&self) -> Option<String> {
        modes_phrase(&self.modes)
    }
}

fn shares(modes: &[Mode]) -> Vec<(f64, f64)> {
    commonest_first(&modes.iter().map(|mode| (mode.value, mode.weight)).collect::<Vec<_>>())
}

/// The same of any modes.
pub(crate) fn modes_phrase(modes: &[Mode]) -> Option<String> {
    let phrase = |(value, weight)| format!("{} ({:.0} %)", nanoseconds(value), weight * 100.0);
    (!modes.is_empty()).then(|| shares(modes).into_iter().map(phrase).collect::<Vec<_>>().join(" or "))
}

/// Those of these medians and means of starts.
pub(crate) fn figures(
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
        min,
        p50: percentile(0.5)?,
        p90: percentile(0.9),
        p99: percentile(0.99),
        p999: percentile(0.999),
        max: max?,
        mad: mad(&values)?,
        mean_over_time: None,
        reading: None,
    })
}
