//! Answers that are useless: the probe died, broke the protocol or did something else than was asked.

use super::case::ProbeAnswer;
use super::constants::Constants;
use super::experiments::rules;
use crate::words::{is_message, last_words};
use switchcost_model::{EndStatus, LastWords, Phase, Plan, PlanEcho, ProcessEnd, Reason, Transcript, harmless};

/// How long a probe may take to leave after `end`, ms. The kernel takes a container apart in 2, a busy machine in more; a helper of the idle class had to wait
/// for 1.5 s beside a build until it could end.
#[must_use]
pub fn leave_ms(contexts: u64) -> u64 {
    5000 + 10 * contexts.min(1000)
}

/// It came to no end because others had its CPUs: no task of its own, or it would have used them itself. Nobody knows what it would have said.
pub(super) fn crowded(constants: &Constants, plan: &Plan, answer: &ProbeAnswer<'_>) -> Option<Reason> {
    let seen = answer.seen.filter(|_| answer.process == ProcessEnd::Deadline)?;
    let (waited, limit) = (seen.waited_ns? as f64, plan.deadline_ms as f64 * 1e6);
    let others = waited >= constants.crowded * limit
        && seen.cpu_ns as f64 <= (1.0 - constants.crowded) * limit * plan.cpus.len().max(1) as f64;
    others.then_some(Reason::Crowded { limit_ms: plan.deadline_ms, waited_ms: (waited / 1e6).round() as u64 })
}

/// Reasons for which there is no usable answer at all.
pub(super) fn reason(plan: &Plan, answer: &ProbeAnswer<'_>) -> Option<Reason> {
    let ProbeAnswer { transcript, process, log, .. } = *answer;
    let words = || quoted(log);
    if let Some(fault) = &transcript.fault
        && process != ProcessEnd::Deadline
    {
        return Some(Reason::ProtocolBroken { fault: fault.clone().into(), words: words() });
    }
    match process {
        ProcessEnd::Deadline if transcript.end.is_some() => {
            return Some(Reason::DidNotLeave { limit_ms: leave_ms(plan.variant.contexts), words: words() });
        }
        ProcessEnd::Deadline => return Some(Reason::NoAnswer { limit_ms: plan.deadline_ms }),
        ProcessEnd::NotStarted => return Some(Reason::NotStarted { why: log.trim().to_owned() }),
        ProcessEnd::Signalled(signal) => return Some(Reason::Killed { signal, words: words() }),
        ProcessEnd::Unknown => return Some(Reason::EndUnknown),
        ProcessEnd::Stopped | ProcessEnd::Exited(_) => {}
    }
    let Some(end) = &transcript.end else {
        let status = if let ProcessEnd::Exited(status) = process { status } else { -1 };
        return Some(Reason::EndedEarly { status, words: words() });
    };
    let fine = matches!(end.status, EndStatus::Ok | EndStatus::Unsupported);
    match process {
        ProcessEnd::Exited(status) if (status == 0) != fine => {
            return Some(Reason::StatusesDiffer { end: end.status.to_string(), status, words: words() });
        }
        _ if !fine => return None,
        _ => {}
    }
    if end.status == EndStatus::Ok {
        (rules(plan.variant.experiment).unusable)(answer.seen).or_else(|| other_plan(plan, transcript))
    } else {
        None
    }
}

/// What the log has to add to the sentence about a probe's end.
fn quoted(log: &str) -> LastWords {
    match last_words(log) {
        None => LastWords::None,
        Some(_) if log.lines().any(is_message) => LastWords::Messages,
        Some(words) => LastWords::Said { text: harmless(&words) },
    }
}

/// The probe must have carried out what was asked.
fn other_plan(plan: &Plan, transcript: &Transcript) -> Option<Reason> {
    let Some(echo) = &transcript.plan else { return Some(Reason::NoPlan) };
    let variant = &plan.variant;
    let differs = |what: &str, asked: &dyn std::fmt::Display, done: &dyn std::fmt::Display| {
        Some(Reason::OtherPlan { what: what.to_owned(), done: done.to_string(), asked: asked.to_string() })
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
        return differs("cpus", &format!("{:?}", plan.cpus), &format!("{:?}", echo.cpus));
    }
    if plan.batch_units != 0
        && !(plan.batch_units..=plan.batch_units.saturating_add(echo.contexts)).contains(&echo.batch_units)
    {
        return differs("batch_units", &plan.batch_units, &echo.batch_units);
    }
    for (name, value) in variant.sent() {
        if echo.parameters.get(name) != Some(value) {
            let done = echo.parameters.get(name).map_or("missing", String::as_str);
            return differs(name, value, &done);
        }
    }
    counted_batches(plan, echo, transcript)
}

fn counted_batches(plan: &Plan, echo: &PlanEcho, transcript: &Transcript) -> Option<Reason> {
    if plan.variant.experiment.in_one_batch() {
        return None;
    }
    if plan.variant.each_unit() {
        let recorded: u64 = transcript.histograms.iter().filter(|h| h.phase == Phase::Measure).map(|h| h.units).sum();
        let asked = echo.batch_units.saturating_mul(plan.batches);
        return (recorded != asked).then_some(Reason::IntervalsMissing { recorded, asked });
    }
    for part in plan.variant.experiment.page().samples() {
        for (phase, asked) in [(Phase::Warmup, plan.warmup_batches), (Phase::Measure, plan.batches)] {
            let of = transcript.samples.iter().filter(|s| s.phase == phase && s.quantity.as_deref() == part);
            let arrived: u64 = of.map(|s| s.ticks.len() as u64).sum();
            if arrived != asked {
                return Some(Reason::BatchesMissing { phase: phase.to_string(), arrived, asked });
            }
        }
    }
    let foreign = transcript.samples.iter().find(|s| s.units != echo.batch_units)?;
    Some(Reason::OtherBatch { units: foreign.units, planned: echo.batch_units })
}
