//! Answers that are useless: the probe died, broke the protocol or did something else than was asked.

use super::{LEAVE_MS, ProbeAnswer};
use crate::words::{is_message, last_words};
use switchcost_model::{EndStatus, Phase, Plan, PlanEcho, ProcessEnd, Transcript, harmless};

/// Reasons for which there is no usable answer at all.
pub(super) fn reason(plan: &Plan, answer: &ProbeAnswer<'_>) -> Option<String> {
    let ProbeAnswer { transcript, process, log, .. } = *answer;
    let last_words = || quoted(log);
    if let Some(fault) = &transcript.fault
        && process != ProcessEnd::Deadline
    {
        return Some(format!("the probe broke the protocol: {fault}{}", last_words()));
    }
    match process {
        ProcessEnd::Deadline if transcript.end.is_some() => {
            return Some(format!(
                "the probe answered but did not leave within {LEAVE_MS} ms or by the end of the budget; it was killed{}",
                last_words()
            ));
        }
        ProcessEnd::Deadline => {
            return Some(format!(
                "no answer within {} ms; the probe and all its processes were killed",
                plan.deadline_ms
            ));
        }
        ProcessEnd::NotStarted => return Some(format!("the probe could not be started: {}", log.trim())),
        ProcessEnd::Signalled(signal) => {
            return Some(format!("the probe was killed by signal {signal}{}", last_words()));
        }
        ProcessEnd::Stopped | ProcessEnd::Exited(_) => {}
    }
    let Some(end) = &transcript.end else {
        let status = if let ProcessEnd::Exited(status) = process { status } else { -1 };
        return Some(format!("the probe ended with exit status {status} before `end`{}", last_words()));
    };
    let fine = matches!(end.status, EndStatus::Ok | EndStatus::Unsupported);
    match process {
        ProcessEnd::Exited(status) if (status == 0) != fine => {
            return Some(format!("`end` says {} but the exit status is {status}{}", end.status, last_words()));
        }
        _ if !fine => return None,
        _ => {}
    }
    if end.status == EndStatus::Ok { other_plan(plan, transcript) } else { None }
}

/// What the log has to add to the sentence about a probe's end.
fn quoted(log: &str) -> String {
    match last_words(log) {
        None => String::new(),
        Some(_) if log.lines().any(is_message) => {
            "; it wrote its messages to standard output; they belong to the descriptor of report_fd".into()
        }
        Some(words) => {
            format!("; its last words: {} (all of it: `switchcost export RUN`, field log)", harmless(words))
        }
    }
}

/// The probe must have carried out what was asked.
fn other_plan(plan: &Plan, transcript: &Transcript) -> Option<String> {
    let Some(echo) = &transcript.plan else { return Some("no `plan` before `end`".into()) };
    let variant = &plan.variant;
    let differs = |what: &str, asked: &dyn std::fmt::Display, done: &dyn std::fmt::Display| {
        Some(format!("the probe carried out another plan: {what} is {done}, asked was {asked}"))
    };
    if echo.mechanism != variant.mechanism {
        return differs("mechanism", &variant.mechanism, &echo.mechanism);
    }
    if echo.experiment != variant.experiment {
        return differs("experiment", &variant.experiment, &echo.experiment);
    }
    if echo.timing != variant.timing {
        return differs("timing", &variant.timing, &echo.timing);
    }
    if variant.experiment.ring && echo.contexts != variant.contexts {
        return differs("contexts", &variant.contexts, &echo.contexts);
    }
    if echo.cpus != plan.cpus {
        return Some(format!("the probe carried out another plan: cpus {:?}, asked was {:?}", echo.cpus, plan.cpus));
    }
    if plan.batch_units != 0
        && !(plan.batch_units..=plan.batch_units.saturating_add(echo.contexts)).contains(&echo.batch_units)
    {
        return differs("batch_units", &plan.batch_units, &echo.batch_units);
    }
    for (name, value) in &variant.parameters {
        if echo.parameters.get(name) != Some(value) {
            let done = echo.parameters.get(name).map_or("missing", String::as_str);
            return differs(name, value, &done);
        }
    }
    counted_batches(plan, echo, transcript)
}

fn counted_batches(plan: &Plan, echo: &PlanEcho, transcript: &Transcript) -> Option<String> {
    if plan.variant.experiment.in_one_batch() {
        return None;
    }
    if plan.variant.each_unit() {
        let recorded: u64 = transcript.histograms.iter().filter(|h| h.phase == Phase::Measure).map(|h| h.units).sum();
        let asked = echo.batch_units.saturating_mul(plan.batches);
        return (recorded != asked).then(|| format!("{recorded} intervals were recorded where {asked} were asked"));
    }
    for part in plan.variant.experiment.page().samples() {
        for (phase, asked) in [(Phase::Warmup, plan.warmup_batches), (Phase::Measure, plan.batches)] {
            let of = transcript.samples.iter().filter(|s| s.phase == phase && s.quantity.as_deref() == part);
            let done: u64 = of.map(|s| s.ticks.len() as u64).sum();
            if done != asked {
                return Some(format!("{done} {phase} batches arrived where {asked} were asked"));
            }
        }
    }
    let foreign = transcript.samples.iter().find(|s| s.units != echo.batch_units)?;
    Some(format!("a batch has {} units where the plan says {}", foreign.units, echo.batch_units))
}
