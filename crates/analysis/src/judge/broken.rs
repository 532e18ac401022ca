//! Answers that are useless: the probe died, broke the protocol or did something else than was
//! asked.

use super::case::ProbeAnswer;
use super::constants::Constants;
use super::experiments::rules;
use crate::words::{is_message, last_words};
use switchcost_model::{
    EndStatus, LastWords, Phase, Plan, PlanEcho, ProcessEnd, Reason, TightLimits, Transcript, harmless,
};

/// How long a probe may take to leave after `end`, ms. The kernel takes a container apart in 2, a
/// busy machine in more; a helper of the idle class had to wait for 1.5 s beside a build until it
/// could end.
#[must_use]
pub fn leave_ms(contexts: u64) -> u64 {
    5000 + 10 * contexts.min(1000)
}

/// It came to no end because others had its CPUs: no task of its own, or it would have used them
/// itself. Nobody knows what it would have said.
pub(super) fn crowded(constants: &Constants, plan: &Plan, answer: &ProbeAnswer<'_>) -> Option<Reason> {
    let seen = answer.seen.filter(|_| answer.process == ProcessEnd::Deadline)?;
    let (waited, limit) = (seen.waited_ns? as f64, plan.deadline_ms as f64 * 1e6);
    let others = waited >= constants.crowded * limit
        && seen.cpu_ns as f64 <= (1.0 - constants.crowded) * limit * plan.cpus.len().max(1) as f64;
    others.then_some(Reason::Crowded { limit_ms: plan.deadline_ms, waited_ms: (waited / 1e6).round() as u64 })
}

/// Nothing came that could be judged, within `limit_ms`.
#[must_use]
pub fn no_answer(limit_ms: u64, answer: &ProbeAnswer<'_>) -> Option<Reason> {
    let ProbeAnswer { transcript, process, log, .. } = *answer;
    let words = || quoted(log);
    if let Some(fault) = &transcript.fault
        && process != ProcessEnd::Deadline
    {
        return Some(Reason::ProtocolBroken { fault: fault.clone().into(), words: words() });
    }
    if transcript.end.is_some() && process != ProcessEnd::NotStarted {
        return None;
    }
    Some(match process {
        ProcessEnd::Deadline => Reason::NoAnswer { limit_ms },
        ProcessEnd::NotStarted => Reason::NotStarted { why: log.trim().to_owned() },
        ProcessEnd::Signalled(signal) => Reason::Killed { signal, words: words(), limits: TightLimits::default() },
        ProcessEnd::Unknown => Reason::EndUnknown,
        ProcessEnd::Stopped => Reason::EndedEarly { status: -1, words: words(), limits: TightLimits::default() },
        ProcessEnd::Exited(status) => Reason::EndedEarly { status, words: words(), limits: TightLimits::default() },
    })
}

/// Reasons for which there is no usable answer at all.
pub(super) fn reason(plan: &Plan, answer: &ProbeAnswer<'_>) -> Option<Reason> {
    let ProbeAnswer { transcript, process, log, .. } = *answer;
    if let Some(reason) = no_answer(plan.deadline_ms, answer) {
        return Some(reason);
    }
    let words = || quoted(log);
    let end = transcript.end.as_ref()?;
    let fine = matches!(end.status, EndStatus::Ok | EndStatus::Unsupported);
    match process {
        ProcessEnd::Deadline => {
            return Some(Reason::DidNotLeave { limit_ms: leave_ms(plan.variant.contexts), words: words() });
        }
        ProcessEnd::Signalled(signal) => {
            return Some(Reason::Killed { signal, words: words(), limits: TightLimits::default() });
        }
        ProcessEnd::Unknown => return Some(Reason::EndUnknown),
        ProcessEnd::Exited(status) if (status == 0) != fine => {
            return Some(Reason::StatusesDiffer { end: end.status.to_string(), status, words: words() });
        }
        ProcessEnd::NotStarted | ProcessEnd::Stopped | ProcessEnd::Exited(_) => {}
    }
    if end.status == EndStatus::Ok {
        let unusable = (rules(plan.variant.experiment).unusable)(answer.seen);
        unusable.or_else(|| departures(plan, transcript).into_iter().next())
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

/// All that the probe carried out otherwise than was asked.
#[must_use]
pub fn departures(plan: &Plan, transcript: &Transcript) -> Vec<Reason> {
    let Some(echo) = &transcript.plan else { return vec![Reason::NoPlan] };
    let (variant, mut all) = (&plan.variant, Vec::new());
    let mut same = |what: &str, asked: String, done: String| {
        if asked != done {
            all.push(Reason::OtherPlan { what: what.to_owned(), done, asked });
        }
    };
    same("mechanism", variant.mechanism.to_string(), echo.mechanism.to_string());
    same("experiment", variant.experiment.to_string(), echo.experiment.to_string());
    same("timing", variant.timing.to_string(), echo.timing.to_string());
    same("contexts", variant.contexts.to_string(), echo.contexts.to_string());
    same("cpus", format!("{:?}", plan.cpus), format!("{:?}", echo.cpus));
    same("batches", plan.batches.to_string(), echo.batches.to_string());
    same("warmup_batches", plan.warmup_batches.to_string(), echo.warmup_batches.to_string());
    if plan.batch_units != 0
        && !(plan.batch_units..=plan.batch_units.saturating_add(echo.contexts)).contains(&echo.batch_units)
    {
        same("batch_units", plan.batch_units.to_string(), echo.batch_units.to_string());
    }
    for (name, value) in variant.sent() {
        same(name, value.clone(), echo.parameters.get(name).map_or("missing", String::as_str).to_owned());
    }
    all.extend(counted_batches(plan, echo, transcript));
    all
}

/// So many batches in each phase as asked; each interval once.
fn counted_batches(plan: &Plan, echo: &PlanEcho, transcript: &Transcript) -> Vec<Reason> {
    if plan.variant.experiment.in_one_batch() {
        return Vec::new();
    }
    if plan.variant.each_unit() {
        let recorded: u64 = transcript.histograms.iter().filter(|h| h.phase == Phase::Measure).map(|h| h.units).sum();
        let asked = echo.batch_units.saturating_mul(plan.batches);
        return (recorded != asked).then_some(Reason::IntervalsMissing { recorded, asked }).into_iter().collect();
    }
    let mut all = Vec::new();
    for part in plan.variant.experiment.page().sent() {
        for (phase, asked) in [(Phase::Warmup, plan.warmup_batches), (Phase::Measure, plan.batches)] {
            let of = transcript.samples.iter().filter(|s| s.phase == phase && s.quantity.as_deref() == part);
            let arrived: u64 = of.map(|s| s.ticks.len() as u64).sum();
            if arrived != asked {
                all.push(Reason::BatchesMissing { phase: phase.to_string(), arrived, asked });
            }
        }
    }
    let foreign = transcript.samples.iter().find(|s| s.units != echo.batch_units);
    all.extend(foreign.map(|samples| Reason::OtherBatch { units: samples.units, planned: echo.batch_units }));
    all
}
