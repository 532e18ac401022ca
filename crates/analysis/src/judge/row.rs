//! Rules that take all starts of a row: what one start may do by chance, two do not.

use super::claim::{CpuShare, cpu_share};
use super::constants::Constants;
use crate::intervals::middle_and_reading;
use crate::series::{claimed_ns, values};
use std::collections::HashSet;
use switchcost_model::{Disturbance, Invocation, Reason, Run, Timing};
use switchcost_stats::median;

/// Why the starts of a row, each of which may be sound by itself, refute it together.
pub(crate) fn contradiction(constants: &Constants, run: &Run, starts: &[&Invocation]) -> Option<Reason> {
    let untraced = |start: &&&Invocation| start.seen.as_ref().is_none_or(|seen| seen.tracer().is_none());
    let starts: &[&Invocation] = &starts.iter().filter(untraced).copied().collect::<Vec<_>>();
    replayed(constants, starts)
        .or_else(|| counter_off(constants, run, starts))
        .or_else(|| idle_contexts(constants, run, starts))
        .or_else(|| slow_clock(constants, run, starts))
}

/// What one start may do by bad luck, the best of several undisturbed ones does not: contexts on
/// one CPU that used far less of it than their batches lasted. A start speaks only if others who
/// took so much of its batches would be told as a disturbance.
fn idle_contexts(constants: &Constants, run: &Run, starts: &[&Invocation]) -> Option<Reason> {
    let speaks = |start: &&&Invocation| {
        let experiment = run.variants[start.variant].experiment;
        experiment.busy_throughout() && !simulated(start) && start.disturbances.is_empty() && start.cpus.len() == 1
    };
    let times = starts.iter().filter(speaks).filter_map(|start| {
        // A control may sleep; of contexts that take turns one always has the CPU.
        let evidence = start.transcript.evidence.as_ref().filter(|evidence| evidence.turns.is_some())?;
        let used = *evidence.counts.get("cpu_time_ns")? as f64;
        let told = Disturbance::least_ns(start.seen.as_ref()?.last_samples_ns? as f64, Disturbance::FLOOR_NS);
        Some((used, claimed_ns(&start.transcript).filter(|claimed| (1.0 - constants.least_used) * claimed >= told)?))
    });
    let times: Vec<(f64, f64)> = times.collect();
    let enough = times.len() as f64 >= constants.speaking_starts;
    let best = times.into_iter().max_by(|(a, b), (c, d)| (a / b).total_cmp(&(c / d))).filter(|_| enough);
    let (used, claimed) = best.filter(|(used, claimed)| *used < constants.least_used * claimed)?;
    let [used_ms, claimed_ms, least_ms] = [used, claimed, constants.least_used * claimed].map(|ns| ns / 1e6);
    Some(Reason::IdleContexts { used_ms, claimed_ms, least_ms: Some(least_ms) })
}

/// In the time of its batches a probe uses no more CPU time than its CPUs have, in the best of its
/// starts to a tenth: whatever came between in others.
fn slow_clock(constants: &Constants, run: &Run, starts: &[&Invocation]) -> Option<Reason> {
    let shares = starts.iter().filter_map(|start| {
        let allowed = || Some(start.seen.as_ref()?.tree.as_ref()?.allowed_cpus.len());
        let cpus = if start.cpus.is_empty() { allowed()? } else { start.cpus.len() };
        cpu_share(constants, &run.variants[start.variant], cpus, &start.transcript)
    });
    let shares: Vec<CpuShare> = shares.collect();
    let best = shares.iter().min_by(|a, b| a.share.total_cmp(&b.share));
    let enough = shares.len() as f64 >= constants.speaking_starts;
    Some(best.filter(|best| enough && best.share > constants.most_used)?.reason(constants.most_used))
}

/// Two processes never take the same time for every batch, to the last tick.
fn replayed(constants: &Constants, starts: &[&Invocation]) -> Option<Reason> {
    let mut known = HashSet::new();
    let timed = starts
        .iter()
        .filter(|start| start.transcript.plan.as_ref().is_none_or(|plan| plan.experiment.timed()) && !simulated(start));
    timed
        .filter_map(|start| {
            let ticks: Vec<u64> = values(&start.transcript).into_iter().map(f64::to_bits).collect();
            let different = ticks.iter().collect::<HashSet<_>>().len() as f64;
            let speaks = different >= constants.replayed_values;
            let batches = ticks.len();
            (speaks && !known.insert(ticks)).then_some(Reason::Replayed { batches })
        })
        .next()
}

/// Of the median interval of a row nothing is left when the cost of reading the counter is taken
/// off, though of each start's mean something was: a preemption moves the mean.
pub(crate) fn below_reading(constants: &Constants, run: &Run, starts: &[&Invocation]) -> Option<Reason> {
    let timed = |start: &&&Invocation| run.variants[start.variant].timing == Timing::Each;
    let all: Vec<(f64, f64)> = starts.iter().filter(timed).filter_map(|start| middle_and_reading(start)).collect();
    let reading = all.iter().map(|(_, reading)| *reading).min_by(f64::total_cmp)?;
    let left = median(&all.iter().map(|(middle, _)| *middle).collect::<Vec<_>>())? - reading;
    let least = constants.resolution * reading;
    (left < least).then_some(Reason::BelowReading { left, reading, least: Some(least) })
}

/// Times of a model, which may well be the same twice and take no time at all.
fn simulated(start: &Invocation) -> bool {
    start.transcript.hello.as_ref().is_none_or(|hello| hello.clock.is_simulated())
}

/// The counter that times single switches runs at the rate that the host measured of it. A start
/// that is pushed aside between its readings of counter and clock shows another rate; half of them
/// do not.
fn counter_off(constants: &Constants, run: &Run, starts: &[&Invocation]) -> Option<Reason> {
    let known = run.machine.drifting.get("clock.tsc_mhz_measured")?.parse::<f64>().ok().filter(|mhz| *mhz > 0.0)?;
    let rates = starts.iter().filter_map(|start| {
        let hello = start.transcript.hello.as_ref().filter(|hello| hello.counter.as_deref().is_some_and(is_tsc))?;
        let spans = start.transcript.histograms.iter().map(|one| (one.span_counter as f64, one.span_clock as f64));
        let (counter, clock) = spans.fold((0.0, 0.0), |all, span| (all.0 + span.0, all.1 + span.1));
        (counter > 0.0 && clock > 0.0).then(|| counter / clock * hello.clock.ticks_per_second as f64 / 1e6)
    });
    let rates: Vec<f64> = rates.collect();
    let claimed_mhz = median(&rates).filter(|mhz| (mhz / known - 1.0).abs() > constants.counter_share)?;
    if (rates.len() as f64) < constants.speaking_starts {
        return None;
    }
    let most_mhz = Some(constants.counter_share * known);
    Some(Reason::CounterRate { claimed_mhz, known_mhz: known, most_mhz })
}

fn is_tsc(counter: &str) -> bool {
    counter.starts_with("tsc")
}
