//! Rules that take all starts of a row: what one start may do by chance, two do not.

use super::Constants;
use crate::series::values;
use std::collections::HashSet;
use switchcost_model::{Histogram, Invocation, Reason, Run};

/// Why the starts of a row, each of which may be sound by itself, refute it together.
pub(crate) fn contradiction(run: &Run, starts: &[&Invocation]) -> Option<Reason> {
    replayed(starts).or_else(|| starts.iter().find_map(|start| counter_off(run, start)))
}

/// Two processes never take the same time for every batch, to the last tick.
fn replayed(starts: &[&Invocation]) -> Option<Reason> {
    let mut known = HashSet::new();
    let told = starts.iter().filter(|start| {
        let hello = start.transcript.hello.as_ref();
        start.transcript.plan.as_ref().is_none_or(|plan| plan.experiment.timed())
            && hello.is_some_and(|hello| !hello.clock.is_simulated())
    });
    told.filter_map(|start| {
        let ticks: Vec<u64> = values(&start.transcript).into_iter().map(f64::to_bits).collect();
        let different = ticks.iter().collect::<HashSet<_>>().len() as f64;
        let speaks = different >= Constants::OURS.replayed_values;
        let batches = ticks.len();
        (speaks && !known.insert(ticks)).then_some(Reason::Replayed { batches })
    })
    .next()
}

/// The counter that times single switches runs at the rate that the host measured of it.
fn counter_off(run: &Run, start: &Invocation) -> Option<Reason> {
    let hello = start.transcript.hello.as_ref().filter(|hello| hello.counter.as_deref().is_some_and(is_tsc))?;
    let known = run.machine.drifting.get("clock.tsc_mhz_measured")?.parse::<f64>().ok().filter(|mhz| *mhz > 0.0)?;
    let rate = |histogram: &Histogram| {
        let ns = histogram.span_clock as f64 * 1e9 / hello.clock.ticks_per_second as f64;
        (histogram.span_counter > 0 && ns > 0.0).then(|| histogram.span_counter as f64 / ns * 1e3)
    };
    let told = start.transcript.histograms.iter().filter_map(rate);
    let mut off = told.filter(|mhz| (mhz / known - 1.0).abs() > Constants::OURS.counter_share);
    off.next().map(|told_mhz| Reason::CounterRate { told_mhz, known_mhz: known })
}

fn is_tsc(counter: &str) -> bool {
    counter.starts_with("tsc")
}
