//! A CPU that idles for a gap until a task on it is woken: did the gaps pass, do the wake-ups fit
//! into what else did, and was the CPU idle?

use super::super::case::Case;
use super::super::claim::claimed_ns;
use super::super::host::most_leaving;
use super::rules::Rules;
use crate::series::ns_per_counter_tick;
use std::collections::BTreeMap;
use switchcost_model::{GAP, IdleState, Idled, Invocation, Reason, Remark, Value, remark};

/// An idle state is named down to this share of the time.
const NAMED: f64 = 0.005;

pub(super) const RULES: Rules = Rules { contradiction, missing, remark: states, ..Rules::NONE };

/// How its CPU idled, if the host looked twice.
fn idled<'a>(case: &Case<'a>) -> Option<&'a Idled> {
    case.seen?.part.idled.as_ref().filter(|idled| idled.between_ns > 0)
}

/// ns that all gaps take.
fn gaps_ns(case: &Case<'_>) -> f64 {
    let gap_us = case.plan.variant.parameters.get(GAP).and_then(|gap| gap.parse::<f64>().ok());
    gap_us.unwrap_or(0.0) * 1e3 * case.evidence.units as f64
}

fn contradiction(case: &Case<'_>) -> Option<Reason> {
    do_not_fit(case).or_else(|| never_idled(case, idled(case)?))
}

/// One gap follows the other, and its wake-up lies between them: all take as long as they add up
/// to. How long the probe lived bounds that.
fn do_not_fit(case: &Case<'_>) -> Option<Reason> {
    let of = |histogram| ns_per_counter_tick(histogram, case.transcript).unwrap_or(1.0) * histogram.sum as f64;
    let due = gaps_ns(case) + case.transcript.histograms.iter().map(of).sum::<f64>();
    let took = claimed_ns(case);
    let least = due * (1.0 - case.constants.clock_share) - case.constants.clock_ns;
    let [due_ms, took_ms, least_ms] = [due, took, least].map(|ns| ns / 1e6);
    let (units, least_ms) = (case.evidence.units, Some(least_ms));
    (took < least).then_some(Reason::GapsDoNotFit { units, due_ms, took_ms, least_ms })
}

/// ns that the CPU idles at least, of `between`.
fn least_idle(case: &Case<'_>, between: f64) -> f64 {
    (1.0 - case.constants.waiter_busy) * gaps_ns(case) * (between / claimed_ns(case).max(1.0)).min(1.0)
}

/// Tasks that leave the CPUs less time than the gaps take did not sleep through them.
fn never_idled(case: &Case<'_>, idled: &Idled) -> Option<Reason> {
    let (seen, before) = (case.seen?, case.seen?.tree.as_ref()?.cpu_ns);
    let (cpus, between) = (case.plan.cpus.len() as f64, idled.between_ns as f64);
    let beside = (case.constants.leaving * before as f64).min(most_leaving(case)) + case.constants.missing_time_ns;
    let most = cpus * between + beside - seen.cpu_ns.saturating_sub(before) as f64;
    not_idle(case, idled, most)
}

fn not_idle(case: &Case<'_>, idled: &Idled, idle_ns: f64) -> Option<Reason> {
    let needed = least_idle(case, idled.between_ns as f64);
    let [idle_ms, gaps_ms, least_ms] = [idle_ns.max(0.0), gaps_ns(case), needed].map(|ns| ns / 1e6);
    let least_ms = Some(least_ms);
    (idle_ns < needed).then_some(Reason::NotIdle { cpu: idled.cpu, idle_ms, gaps_ms, least_ms })
}

fn missing(case: &Case<'_>) -> Option<Reason> {
    if case.evidence.kernel.is_none() {
        let why = case.evidence.why.get("kernel").cloned();
        return Some(Reason::NotSeen { what: "the kernel's switch count".to_owned(), why });
    }
    let Some(idled) = idled(case) else { return Some(Reason::NotLookedAt) };
    // Who had the CPU instead is not known: another program, or a sleeper that did not sleep.
    let counted = idled.states.as_ref()?.values().map(|state| state.ns as f64).sum();
    not_idle(case, idled, counted)
}

/// The states that the CPU was in, over all starts of a row.
fn states(starts: &[&Invocation]) -> Option<Remark> {
    let seen = starts.iter().filter_map(|start| start.seen.as_ref()?.part.idled.as_ref());
    let seen: Vec<&Idled> = seen.filter(|idled| idled.between_ns > 0).collect();
    let cpu = u64::from(seen.first()?.cpu);
    let counted: Vec<_> = seen.iter().filter_map(|idled| idled.states.as_ref()).collect();
    if counted.is_empty() {
        return Some(remark!(idle_unknown, cpu));
    }
    let mut all: BTreeMap<&str, IdleState> = BTreeMap::new();
    for (name, state) in counted.into_iter().flatten() {
        let sum = all.entry(name).or_default();
        sum.entered = sum.entered.saturating_add(state.entered);
        sum.ns = sum.ns.saturating_add(state.ns);
    }
    let ns = all.values().fold(0_u64, |sum, state| sum.saturating_add(state.ns)).max(1) as f64;
    let mut named: Vec<_> = all.into_iter().filter(|(_, state)| state.ns as f64 >= NAMED * ns).collect();
    named.sort_by_key(|(_, state)| std::cmp::Reverse(state.ns));
    let told = |(name, state): &(&str, IdleState)| {
        format!("{name} {} ({}×)", Value::Percent(state.ns as f64 / ns), Value::Count(state.entered))
    };
    let states = named.iter().map(told).collect::<Vec<_>>().join(", ");
    Some(remark!(idle_states, cpu, states = if states.is_empty() { "none".to_owned() } else { states }))
}
