//! From raw ticks of one invocation to ns per unit.

use std::collections::BTreeMap;
use switchcost_model::{Experiment, Histogram, Invocation, Phase, Samples, Timing, Transcript};
use switchcost_stats::{Steady, median, steady_from};

/// The measured batches of one invocation.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// What a unit takes, in each batch of phase measure, in order.
    pub values: Vec<f64>,
    /// What each of them lasted, ns.
    pub lasted: Vec<f64>,
    /// How many of them belong to a warm-up that outlasted the planned one.
    pub warmup: usize,
    /// False: no steady part was reached; `warmup` is then half of the series.
    pub steady: bool,
}

impl Series {
    /// The values after the warm-up.
    #[must_use]
    pub fn settled(&self) -> &[f64] {
        &self.values[self.warmup..]
    }

    /// Mean cost over a stretch of time from the first batch on, each ns alike.
    pub(crate) fn mean_over(&self, stretch: f64) -> f64 {
        let (mut left, mut sum) = (stretch, 0.0);
        for (value, lasted) in self.values.iter().zip(&self.lasted) {
            let counted = lasted.min(left);
            (left, sum) = (left - counted, sum + value * counted);
        }
        sum / (stretch - left).max(f64::MIN_POSITIVE)
    }
}

/// Measured batches of `timing=batch`, warm-up found. A scheduler that is free to place the
/// contexts may change its mind at any time, and what such a start costs is all of it: nothing is
/// cut off.
#[must_use]
pub fn series(invocation: &Invocation) -> Series {
    let (values, lasted) = batches(&invocation.transcript).into_iter().unzip::<_, _, Vec<_>, Vec<_>>();
    let free = invocation.cpus.is_empty();
    let (warmup, steady) = match steady_from(&values) {
        _ if free => (0, true),
        Steady::From(start) => (start, true),
        Steady::Never => (values.len() / 2, false),
    };
    Series { values, lasted, warmup, steady }
}

/// Whether their probe times rulers beside its batches.
pub(crate) fn has_rulers(invocations: &[&Invocation]) -> bool {
    invocations.iter().flat_map(|invocation| &invocation.transcript.samples).any(|samples| !samples.rulers.is_empty())
}

/// What a unit takes, of each measured batch in order.
#[must_use]
pub fn values(transcript: &Transcript) -> Vec<f64> {
    batches(transcript).into_iter().map(|(value, _)| value).collect()
}

/// The same, each with what it lasted in ns; what is not time counts as 1.
fn batches(transcript: &Transcript) -> Vec<(f64, f64)> {
    if let Some(experiment) = transcript.plan.as_ref().map(|plan| plan.experiment).filter(|known| !known.timed()) {
        return counted(experiment, transcript).into_iter().map(|value| (value, 1.0)).collect();
    }
    let ns_per_tick = transcript.hello.as_ref().map_or(1.0, |hello| 1e9 / hello.clock.ticks_per_second as f64);
    let measured = |samples: &&Samples| samples.phase == Phase::Measure && samples.quantity.is_none();
    let of_batches = |samples: &Samples| {
        let one = |&ticks: &i64| (ticks as f64 * (ns_per_tick / samples.units as f64), ticks as f64 * ns_per_tick);
        samples.ticks.iter().map(one).collect::<Vec<_>>()
    };
    transcript.samples.iter().filter(measured).flat_map(of_batches).collect()
}

/// The sum of an experiment's parts per unit: of each batch, or of the one batch that its contexts
/// live for.
fn counted(experiment: Experiment, transcript: &Transcript) -> Vec<f64> {
    if experiment.in_one_batch() {
        let parts = quantities(transcript).into_iter().filter(|(name, _)| !experiment.beside.contains(name));
        return parts.map(|(_, value)| value).reduce(|a, b| a + b).into_iter().collect();
    }
    let mut sums = Vec::new();
    for part in &experiment.page().parts {
        let of = |samples: &&Samples| samples.phase == Phase::Measure && samples.quantity.as_ref() == Some(part);
        let values =
            transcript.samples.iter().filter(of).flat_map(|s| s.ticks.iter().map(|&n| n as f64 / s.units as f64));
        for (place, value) in values.enumerate() {
            match sums.get_mut(place) {
                Some(sum) => *sum += value,
                None => sums.push(value),
            }
        }
    }
    sums
}

/// How long a measured batch typically lasted, ns: the median of them. None without any that took
/// time.
#[must_use]
pub fn batch_ns(transcript: &Transcript) -> Option<f64> {
    let lasted: Vec<f64> = batches(transcript).into_iter().map(|(_, lasted)| lasted).collect();
    median(&lasted).filter(|lasted| *lasted > 0.0)
}

/// Time that the batches took by the probe's own word, warm-up included, ns; of `timing=each` the
/// stretch from which its counter's rate was taken. None: it sent neither.
#[must_use]
pub fn claimed_ns(transcript: &Transcript) -> Option<f64> {
    let ns_per_tick = 1e9 / transcript.hello.as_ref()?.clock.ticks_per_second as f64;
    let timed = transcript.samples.iter().filter(|samples| samples.quantity.is_none());
    let batches = timed.flat_map(|samples| &samples.ticks).map(|&ticks| ticks as f64);
    let spans = transcript.histograms.iter().map(|histogram| histogram.span_clock as f64);
    batches.chain(spans).reduce(|sum, ticks| sum + ticks).map(|ticks| ticks * ns_per_tick)
}

/// ns in one tick of a histogram: of the cycle counter, from a stretch of time measured with both;
/// of the clock, where that times each unit. What is not time is in units of its own.
pub(crate) fn ns_per_counter_tick(histogram: &Histogram, transcript: &Transcript) -> Option<f64> {
    if transcript.plan.as_ref().is_some_and(|plan| !plan.experiment.timed()) {
        return Some(1.0);
    }
    let clock = &transcript.hello.as_ref()?.clock;
    // Where units are not timed by the counter they are by the clock.
    if transcript.plan.as_ref().is_some_and(|plan| plan.timing != Timing::Each) {
        return Some(1e9 / clock.ticks_per_second as f64);
    }
    let span_ns = histogram.span_clock as f64 * 1e9 / clock.ticks_per_second as f64;
    (histogram.span_counter > 0).then(|| span_ns / histogram.span_counter as f64)
}

/// The longest measured unit, ns; None: it sent no histogram.
#[must_use]
pub fn longest_ns(transcript: &Transcript) -> Option<f64> {
    let measured = transcript.histograms.iter().filter(|histogram| histogram.phase == Phase::Measure);
    let longest = |histogram: &Histogram| Some(histogram.max as f64 * ns_per_counter_tick(histogram, transcript)?);
    measured.filter_map(longest).reduce(f64::max)
}

/// Of each named quantity that is reported, in as many messages as it takes, what a unit takes.
pub(crate) fn quantities(transcript: &Transcript) -> BTreeMap<String, f64> {
    let mut all: BTreeMap<String, (f64, usize, u64)> = BTreeMap::new();
    for samples in transcript.samples.iter().filter(|samples| samples.phase == Phase::Measure) {
        let Some(quantity) = samples.quantity.clone() else { continue };
        let (sum, batches, _) = all.remove(&quantity).unwrap_or_default();
        let sum = samples.ticks.iter().fold(sum, |sum, &ticks| sum + ticks as f64);
        all.insert(quantity, (sum, batches + samples.ticks.len(), samples.units));
    }
    all.into_iter().map(|(name, (sum, n, units))| (name, sum / n.max(1) as f64 / units as f64)).collect()
}
