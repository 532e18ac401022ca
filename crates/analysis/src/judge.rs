//! The judge: does the evidence bear the claim out?

use crate::words::{is_message, last_words};
use switchcost_model::{
    Disturbance, EndStatus, Evidence, EvidenceRule, Experiment, Hops, Judgement, Phase, Plan, PlanEcho, ProcessEnd,
    Timing, Transcript, Turns, Verdict, told,
};

/// Kernel switches may differ from the rule by this share (counters are read while tasks fall asleep, timer interrupts preempt).
const KERNEL_TOLERANCE: f64 = 0.02;

/// Where a rule allows no kernel switch, more than this share of the units means that something else ran in between.
const STRAY_SHARE: f64 = 0.001;

/// Kernel switches at the edges of the measurement that belong to no unit, beside two a context.
const EDGE_SWITCHES: f64 = 10.0;

/// Times a second that somebody else may get the CPU in between. It matters for units of milliseconds (large working sets), of which a
/// single preemption is more than [`KERNEL_TOLERANCE`]; a scheduler's slice is longer than a millisecond.
const PREEMPTIONS_PER_SECOND: f64 = 1000.0;

/// No CPU hands anything over in less than this; a faster claim was optimised away or miscounted. Half a cycle at 5 GHz.
const IMPLAUSIBLE_NS: f64 = 0.1;

/// How long a probe may take to leave after `end`, ms.
pub const LEAVE_MS: u64 = 1500;

/// Judgement of one invocation, and what strangers did to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ruling {
    /// Verdict and reason.
    pub judgement: Judgement,
    /// Kernel switches that the mechanism does not explain but that do not refute it.
    pub disturbances: Vec<Disturbance>,
}

impl Ruling {
    fn new(verdict: Verdict, reason: impl Into<String>) -> Self {
        Self { judgement: Judgement::new(verdict, reason), disturbances: Vec::new() }
    }
}

/// Judges one invocation by the mechanism's rule.
#[must_use]
pub fn judge(rule: &EvidenceRule, plan: &Plan, transcript: &Transcript, process: ProcessEnd, log: &str) -> Ruling {
    if let Some(reason) = broken(plan, transcript, process, log) {
        return Ruling::new(Verdict::Broken, reason);
    }
    let Some(end) = &transcript.end else { return Ruling::new(Verdict::Broken, "no `end`") };
    let detail = || end.detail.clone().unwrap_or_default();
    match end.status {
        EndStatus::Ok => {}
        EndStatus::Unsupported => return Ruling::new(Verdict::Unsupported, detail()),
        EndStatus::Refused => return Ruling::new(Verdict::Broken, format!("the probe refused the plan: {}", detail())),
        EndStatus::Failed => return Ruling::new(Verdict::Broken, format!("the probe failed: {}", detail())),
    }
    let (Some(evidence), Some(echo)) = (&transcript.evidence, &transcript.plan) else {
        return Ruling::new(Verdict::Broken, "neither plan nor evidence came before `end`");
    };
    if let Some(reason) = contradiction(rule, plan, echo, transcript, evidence) {
        return Ruling::new(Verdict::Contradicted, reason);
    }
    let mut ruling = match unobservable(rule, plan, evidence) {
        Some(reason) => Ruling::new(Verdict::Unobservable, reason),
        None => Ruling::new(Verdict::Verified, ""),
    };
    ruling.disturbances.extend(strangers(rule, evidence));
    ruling
}

/// Reasons for which there is no usable answer at all.
fn broken(plan: &Plan, transcript: &Transcript, process: ProcessEnd, log: &str) -> Option<String> {
    let last_words = || quoted(log);
    if let Some(fault) = &transcript.fault
        && process != ProcessEnd::Deadline
    {
        return Some(format!("the probe broke the protocol: {fault}{}", last_words()));
    }
    match process {
        ProcessEnd::Deadline if transcript.end.is_some() => {
            return Some(format!(
                "the probe answered but did not leave within {LEAVE_MS} ms; it was killed{}",
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
            format!("; its last words: {} (all of it: `switchcost show RUN --format jsonl`, field log)", told(words))
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
    if variant.experiment == Experiment::Switch && echo.contexts != variant.contexts {
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
    if plan.variant.experiment == Experiment::Footprint {
        return None;
    }
    if plan.variant.timing == Timing::Each {
        let recorded: u64 = transcript.histograms.iter().filter(|h| h.phase == Phase::Measure).map(|h| h.units).sum();
        let asked = echo.batch_units.saturating_mul(plan.batches);
        return (recorded != asked).then(|| format!("{recorded} intervals were recorded where {asked} were asked"));
    }
    for (phase, asked) in [(Phase::Warmup, plan.warmup_batches), (Phase::Measure, plan.batches)] {
        let done: u64 = transcript.samples.iter().filter(|s| s.phase == phase).map(|s| s.ticks.len() as u64).sum();
        if done != asked {
            return Some(format!("{done} {phase} batches arrived where {asked} were asked"));
        }
    }
    let foreign = transcript.samples.iter().find(|s| s.units != echo.batch_units)?;
    Some(format!("a batch has {} units where the plan says {}", foreign.units, echo.batch_units))
}

/// Units of all batches and histograms: what the driver claims by reporting them. A warm-up without a histogram of its own is implied by
/// the plan.
fn reported_units(plan: &Plan, echo: &PlanEcho, transcript: &Transcript) -> u64 {
    let batches = transcript.samples.iter().map(|s| s.units.saturating_mul(s.ticks.len() as u64));
    let reported = batches.chain(transcript.histograms.iter().map(|h| h.units)).fold(0, u64::saturating_add);
    let silent_warmup = plan.variant.timing == Timing::Each
        && !transcript.histograms.iter().any(|histogram| histogram.phase == Phase::Warmup);
    let implied = if silent_warmup { echo.batch_units.saturating_mul(plan.warmup_batches) } else { 0 };
    reported.saturating_add(implied)
}

/// Hand-offs in one unit: a round trip is two.
fn turns_per_unit(experiment: Experiment) -> u64 {
    if experiment == Experiment::Message { 2 } else { 1 }
}

/// Whether the contexts' turns, if they were counted, are those that the units imply. A footprint has no hand-offs; there each context runs
/// equally often.
pub(crate) fn turns_agree(experiment: Experiment, evidence: &Evidence) -> Option<bool> {
    let turns = evidence.turns.as_ref()?;
    Some(match experiment {
        Experiment::Footprint => turns.total > 0 && turns.min == turns.max,
        _ => turns.total == evidence.units.saturating_mul(turns_per_unit(experiment)),
    })
}

fn contradiction(
    rule: &EvidenceRule,
    plan: &Plan,
    echo: &PlanEcho,
    transcript: &Transcript,
    evidence: &Evidence,
) -> Option<String> {
    if plan.variant.experiment == Experiment::Footprint {
        // Nothing is handed over; but each context that the memory is divided by must have run.
        let turns = evidence.turns.as_ref()?;
        return wrong_turns(
            turns,
            plan.variant.contexts.saturating_mul(plan.batches + plan.warmup_batches),
            echo,
            Experiment::Footprint,
        );
    }
    let reported = reported_units(plan, echo, transcript);
    if evidence.units != reported {
        return Some(format!("the evidence covers {} units, the batches report {reported}", evidence.units));
    }
    let expected = evidence.units.saturating_mul(turns_per_unit(plan.variant.experiment));
    evidence
        .turns
        .as_ref()
        .and_then(|turns| wrong_turns(turns, expected, echo, plan.variant.experiment))
        .or_else(|| {
            let token = evidence.token.filter(|&token| token != expected)?;
            Some(format!("the token advanced by {token} where {expected} hand-offs were claimed"))
        })
        .or_else(|| wrong_kernel_switches(rule, transcript, evidence))
        .or_else(|| {
            let spaces = evidence.address_spaces.filter(|&spaces| spaces < rule.address_spaces)?;
            Some(format!("{spaces} address spaces where the mechanism needs {}", rule.address_spaces))
        })
        .or_else(|| wrong_cpus(plan, evidence))
        .or_else(|| evidence.hops.as_ref().and_then(|hops| wrong_hops(rule, plan, hops)))
        .or_else(|| wrong_counts(rule, transcript, evidence))
        .or_else(|| too_few(rule, evidence))
        .or_else(|| implausible(transcript))
}

fn wrong_turns(turns: &Turns, expected: u64, echo: &PlanEcho, experiment: Experiment) -> Option<String> {
    if turns.total != expected {
        return Some(format!("the contexts counted {} turns where {expected} were claimed", turns.total));
    }
    if experiment != Experiment::Switch {
        return None;
    }
    if turns.contexts != echo.contexts {
        return Some(format!("{} contexts took part where {} were asked", turns.contexts, echo.contexts));
    }
    (turns.max.saturating_sub(turns.min) > 1)
        .then(|| format!("one context had {} turns, another {}: no ring was passed round", turns.max, turns.min))
}

fn kernel_total(evidence: &Evidence) -> Option<f64> {
    evidence.kernel.as_ref().map(|kernel| kernel.voluntary.saturating_add(kernel.involuntary) as f64)
}

fn edge_allowance(evidence: &Evidence) -> f64 {
    EDGE_SWITCHES + 2.0 * evidence.kernel.as_ref().map_or(0.0, |kernel| kernel.tasks as f64)
}

/// What preemptions may have added to a count while the units of the evidence took place; how long that was, the measured ones tell.
fn preemption_allowance(transcript: &Transcript, evidence: &Evidence) -> f64 {
    let values = crate::series(transcript).values;
    let each_ns = values.iter().sum::<f64>() / values.len().max(1) as f64;
    PREEMPTIONS_PER_SECOND * each_ns * evidence.units as f64 / 1e9
}

fn wrong_kernel_switches(rule: &EvidenceRule, transcript: &Transcript, evidence: &Evidence) -> Option<String> {
    let ((low, high), observed) = (rule.kernel_switches?, kernel_total(evidence)?);
    let (units, edge) = (evidence.units as f64, edge_allowance(evidence));
    let too_few = observed < low * units * (1.0 - KERNEL_TOLERANCE) - edge;
    let most = (high * (1.0 + KERNEL_TOLERANCE)).max(KERNEL_TOLERANCE) * units + edge;
    let too_many = observed > most + preemption_allowance(transcript, evidence);
    (too_few || too_many).then(|| {
        let expected = if (high - low).abs() < f64::EPSILON { format!("{low}") } else { format!("{low} to {high}") };
        format!(
            "the kernel counted {observed} switches for {units} claimed ({:.3} each) where the mechanism makes {expected}",
            observed / units
        )
    })
}

/// More kernel switches than the mechanism makes, yet too few to refute it: somebody else ran in between.
fn strangers(rule: &EvidenceRule, evidence: &Evidence) -> Option<Disturbance> {
    let ((_, high), observed) = (rule.kernel_switches?, kernel_total(evidence)?);
    let units = evidence.units as f64;
    let stray = observed - high * units;
    let allowed =
        (high.max(1.0) * STRAY_SHARE * units).max(high * units * KERNEL_TOLERANCE / 2.0) + edge_allowance(evidence);
    (stray > allowed).then(|| Disturbance {
        kind: "foreign_switches".into(),
        detail: format!("{stray:.0} kernel switches more than the mechanism makes in {units:.0} units"),
    })
}

fn wrong_cpus(plan: &Plan, evidence: &Evidence) -> Option<String> {
    let seen = evidence.cpus.as_ref()?;
    let stranger = seen.iter().find(|cpu| !plan.cpus.is_empty() && !plan.cpus.contains(cpu))?;
    Some(format!("a context ran on CPU {stranger} where {:?} was planned", plan.cpus))
}

fn wrong_hops(rule: &EvidenceRule, plan: &Plan, hops: &Hops) -> Option<String> {
    if hops.in_order != hops.count {
        return Some(format!("only {} of {} hops went to the next context of the ring", hops.in_order, hops.count));
    }
    if plan.cpus.len() > 1 && plan.variant.contexts.is_multiple_of(plan.cpus.len() as u64) && hops.same_cpu > 0 {
        return Some(format!("{} of {} hops stayed on one CPU where each should change it", hops.same_cpu, hops.count));
    }
    let (low, high) = rule.same_cpu_hops?;
    let share = hops.same_cpu as f64 / (hops.count.max(1)) as f64;
    (!(low..=high).contains(&share))
        .then(|| format!("{:.1} % of hops stayed on one CPU where {low} to {high} was expected", share * 100.0))
}

fn wrong_counts(rule: &EvidenceRule, transcript: &Transcript, evidence: &Evidence) -> Option<String> {
    let units = evidence.units.max(1) as f64;
    let more = preemption_allowance(transcript, evidence) / units;
    rule.counts.iter().find_map(|(name, &(low, high))| {
        let observed = *evidence.counts.get(name)? as f64 / units;
        let inside = observed >= low * (1.0 - KERNEL_TOLERANCE) && observed <= high * (1.0 + KERNEL_TOLERANCE) + more;
        (!inside).then(|| format!("{name}: {observed:.3} a unit where {low} to {high} was expected"))
    })
}

fn too_few(rule: &EvidenceRule, evidence: &Evidence) -> Option<String> {
    rule.at_least.iter().find_map(|(name, &least)| {
        let observed = evidence.counts.get(name).filter(|&&observed| observed < least)?;
        Some(format!("{name} is {observed} where the mechanism needs {least}"))
    })
}

fn implausible(transcript: &Transcript) -> Option<String> {
    let values = crate::series(transcript).values;
    let median = switchcost_stats::median(&values)?;
    (median < IMPLAUSIBLE_NS).then(|| {
        format!("{median:.4} ns a unit is less than one clock cycle: the work was optimised away or miscounted")
    })
}

fn unobservable(rule: &EvidenceRule, plan: &Plan, evidence: &Evidence) -> Option<String> {
    let why = |field: &str, what: &str| {
        let reason = evidence.why.get(field).map_or("the probe gave no reason", String::as_str);
        Some(format!("{what} cannot be seen here: {reason}"))
    };
    if plan.variant.experiment == Experiment::Footprint {
        return None;
    }
    if rule.turns && evidence.turns.is_none() {
        return why("turns", "the contexts' turns");
    }
    if rule.kernel_switches.is_some() && evidence.kernel.is_none() {
        return why("kernel", "the kernel's switch count");
    }
    if rule.address_spaces > 1 && evidence.address_spaces.is_none() {
        return why("address_spaces", "the number of address spaces");
    }
    if !plan.cpus.is_empty() && evidence.cpus.is_none() {
        return why("cpus", "the CPU of the contexts");
    }
    let missing = rule.counts.keys().chain(rule.at_least.keys()).find(|name| !evidence.counts.contains_key(*name))?;
    why(missing, missing)
}

#[cfg(test)]
mod tests;
