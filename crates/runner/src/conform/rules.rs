//! One answer against the rules.

use super::orders::Sent;
use super::subject::Subject;
use super::talk::{Answer, is_measurement};
use crate::experiments::acts;
use std::time::Duration;
use switchcost_analysis::{Bound, Bounds, ProbeAnswer, departures, judge, no_answer, untold, went_another_way};
use switchcost_catalogue::{PlanEnd, PlanEntry};
use switchcost_model::{EndStatus, EvidenceRule, Phase, Plan, PlanEcho, ProcessEnd, Reason, Verdict};
use switchcost_protocol::{END_CODES, kind};

/// A rule by its name in the table, how it was broken, and the line that shows it.
pub(super) struct Found {
    pub rule: String,
    pub what: String,
    pub line: Option<usize>,
}

/// Collects what is found.
#[derive(Default)]
struct List(Vec<Found>);

impl List {
    fn add(&mut self, rule: &str, what: impl Into<String>, line: Option<usize>) {
        self.0.push(Found { rule: rule.to_owned(), what: what.into(), line });
    }

    /// Adds it if it does not hold.
    fn hold(&mut self, holds: bool, rule: &str, line: Option<usize>, what: impl FnOnce() -> String) {
        if !holds {
            self.add(rule, what(), line);
        }
    }
}

/// Every rule that an answer breaks.
pub(super) fn broken(plan: &PlanEntry, subject: Option<&Subject<'_>>, sent: &Sent, answer: &Answer) -> Vec<Found> {
    let mut list = List::default();
    let limit_ms = sent.expected.as_ref().map_or(0, |asked| asked.deadline_ms);
    if let Some(found) = unanswered(plan, subject, answer, limit_ms) {
        return vec![found];
    }
    let Some(end) = &answer.transcript.end else { return Vec::new() };
    let last = Some(answer.lines.len());
    let fine = matches!(end.status, EndStatus::Ok | EndStatus::Unsupported);
    let expected = EndStatus::from(plan.end);
    let code = end.code.as_deref().unwrap_or_default();
    let permitted = end.status == EndStatus::Refused && plan.code.iter().any(|known| known == code);
    let unable = plan.end == PlanEnd::Ok && (end.status == EndStatus::Unsupported || permitted);
    let rule = &plan.rule;
    list.hold(end.status == expected || unable, rule, last, || {
        let detail = end.detail.as_deref().map_or(String::new(), |detail| format!(": {detail}"));
        format!("`end` is {} where {expected} belongs{detail}", end.status)
    });
    if end.status != EndStatus::Ok {
        list.hold(END_CODES.contains(&code), "end", last, || format!("the code `{code}` is not one of the list"));
        list.hold(end.detail.as_ref().is_some_and(|detail| !detail.trim().is_empty()), "end", last, || {
            "`detail` says nothing".into()
        });
    }
    if end.status == EndStatus::Refused && plan.end == PlanEnd::Refused {
        list.hold(plan.code.iter().any(|known| known == code), rule, last, || {
            format!("the code is `{code}` where `{}` belongs", plan.code.join("` or `"))
        });
    }
    departure(&mut list, answer, end.status, fine);
    if end.status == EndStatus::Ok && plan.end == PlanEnd::Ok {
        list.hold(answer.log.trim().is_empty(), "printing", None, || "it succeeded and printed something".into());
        if let (Some(subject), Some(asked)) = (subject, &sent.expected) {
            carried_out(&mut list, subject, asked, answer);
        }
    }
    list.0
}

/// Nothing that could be judged came, as the judge says.
fn unanswered(plan: &PlanEntry, subject: Option<&Subject<'_>>, answer: &Answer, limit_ms: u64) -> Option<Found> {
    let reason = no_answer(limit_ms, &probe_answer(answer))?;
    let fault = answer.transcript.fault.as_ref().filter(|_| matches!(reason, Reason::ProtocolBroken { .. }));
    let line = fault.map_or(Some(answer.lines.len()), |fault| usize::try_from(fault.line).ok());
    let rule = if answer.lines.is_empty() { plan.rule.clone() } else { rule_of(subject, &reason).to_owned() };
    Some(Found { rule, what: reason.to_string(), line: line.filter(|&line| line > 0) })
}

/// The rule that a reason speaks of.
fn rule_of(subject: Option<&Subject<'_>>, reason: &Reason) -> &'static str {
    let parameter = |name: &String| subject.is_some_and(|subject| subject.described.parameters.contains(name));
    match reason {
        Reason::OtherPlan { what, .. } if parameter(what) => "parameters",
        Reason::OtherPlan { .. } | Reason::OtherBatch { .. } => "echo",
        Reason::BatchesMissing { phase, .. } if *phase == Phase::Warmup.to_string() => "warmup",
        Reason::BatchesMissing { .. } | Reason::IntervalsMissing { .. } => "batches",
        Reason::FewChecked { .. } => "hops",
        Reason::NotSeen { .. } => "why",
        Reason::ProtocolBroken { .. } | Reason::NoPlan | Reason::NoEvidence => "messages",
        Reason::NoAnswer { .. } | Reason::Killed { .. } | Reason::EndUnknown | Reason::EndedEarly { .. } => "end",
        _ => "evidence",
    }
}

/// How the process leaves, after its last message.
fn departure(list: &mut List, answer: &Answer, status: EndStatus, fine: bool) {
    match answer.process {
        ProcessEnd::Exited(exit) => {
            list.hold((exit == 0) == fine && (0..2).contains(&exit), "exit_status", None, || {
                format!("the exit status is {exit} after `end` {status}")
            })
        }
        ProcessEnd::Signalled(signal) => list.add("exit_status", format!("signal {signal} ended it after `end`"), None),
        ProcessEnd::Unknown => {}
        _ => list.add("leaving", "it was still there 1.5 s after `end`, and was killed", None),
    }
    // Where nobody can look while they are there, those count that had to be reaped.
    let reaped = || answer.exit.as_ref().map_or(0, |exit| exit.strays as usize);
    let strays = answer.left_behind.unwrap_or_else(reaped);
    list.hold(strays == 0, "processes", None, || format!("processes that outlived it and were killed: {strays}"));
}

/// What must hold of a plan that was carried out.
fn carried_out(list: &mut List, subject: &Subject<'_>, asked: &Plan, answer: &Answer) {
    let transcript = &answer.transcript;
    let (Some(echo), Some(_)) = (&transcript.plan, &transcript.evidence) else {
        return list.add("messages", "neither `plan` nor `evidence` came before `end`", None);
    };
    let line =
        |name: &str| answer.lines.iter().position(|line| kind(line).as_deref() == Some(name)).map(|index| index + 1);
    for reason in departures(asked, transcript) {
        let rule = rule_of(Some(subject), &reason);
        list.add(rule, reason.to_string(), line("plan").filter(|_| matches!(reason, Reason::OtherPlan { .. })));
    }
    strange(list, subject, echo, line("plan"));
    laps(list, subject, asked, echo, line("plan"));
    silence(list, asked, answer, line("plan"));
    let usual = || EvidenceRule { turns: true, kernel_switches: Some((0.0, f64::MAX)), ..EvidenceRule::default() };
    let rule = subject.mechanism.map_or_else(usual, |mechanism| mechanism.rule(&asked.variant));
    for (field, reason) in untold(&rule, asked, &probe_answer(answer)) {
        if !matches!(reason, Reason::NotSeen { why: Some(_), .. }) {
            list.add(rule_of(Some(subject), &reason), format!("`{field}`: {reason}"), line("evidence"));
        }
    }
    if list.0.is_empty() {
        judged(list, subject, &rule, asked, answer, line("evidence"));
    }
}

/// A parameter that it does not describe.
fn strange(list: &mut List, subject: &Subject<'_>, echo: &PlanEcho, line: Option<usize>) {
    if let Some(name) = echo.parameters.keys().find(|name| !subject.described.parameters.contains(name)) {
        list.add("parameters", format!("{name} is not one of the parameters that it describes"), line);
    }
}

fn laps(list: &mut List, subject: &Subject<'_>, asked: &Plan, echo: &PlanEcho, line: Option<usize>) {
    if !subject.is_ring(asked.variant.experiment) || echo.contexts == 0 {
        return;
    }
    // Whole laps in each stretch of a batch that is counted.
    let parts = acts(asked.variant.experiment).parts_of_a_batch;
    let (lap, k) = (echo.contexts.saturating_mul(parts), echo.batch_units);
    if asked.batch_units > 0 {
        let expected = asked.batch_units.div_ceil(lap).saturating_mul(lap);
        return list.hold(k == expected, "laps", line, || {
            format!("batch_units is {k} where {expected} belongs, {} rounded up to laps of {lap}", asked.batch_units)
        });
    }
    list.hold(k.is_multiple_of(lap), "laps", line, || format!("batch_units is {k}, which is not whole laps of {lap}"));
    list.hold(!k.is_multiple_of(lap) || (k / lap).is_power_of_two(), "calibration", line, || {
        format!("batch_units is {k}, which no doubling from one lap of {lap} comes to")
    });
}

/// Nothing comes between `plan` and the first samples, and those not before all batches can be
/// over.
fn silence(list: &mut List, asked: &Plan, answer: &Answer, plan: Option<usize>) {
    let Some(plan) = plan else { return };
    let next = answer.lines.get(plan);
    list.hold(next.is_none_or(|line| is_measurement(line)), "silence", Some(plan + 1), || {
        "a message follows `plan` that holds no samples".into()
    });
    let Some(hello) = &answer.transcript.hello else { return };
    if !asked.variant.experiment.timed() || asked.variant.each_unit() {
        return;
    }
    // The host may read late, never early: what came sooner than the batches can have lasted was
    // written during them.
    let ticks: u128 = answer.transcript.samples.iter().flat_map(|s| &s.ticks).map(|&ticks| ticks.max(0) as u128).sum();
    let lasted = ticks * 1_000_000_000 / u128::from(hello.clock.ticks_per_second.max(1));
    let arrived = answer.first_samples.map_or(u128::MAX, |time: Duration| time.as_nanos());
    list.hold(arrived >= lasted, "silence", Some(plan + 1), || {
        format!(
            "samples came {} µs after the start, and the batches alone lasted {} µs: it wrote between them, or they did not last that long",
            arrived / 1000,
            lasted / 1000
        )
    });
}

/// Shortest batches of which units are judged.
const SHORTEST_JUDGED_NS: u64 = 10_000;

/// The judge of runs, by the mechanism's own rule of evidence.
fn judged(
    list: &mut List,
    subject: &Subject<'_>,
    rule: &EvidenceRule,
    asked: &Plan,
    answer: &Answer,
    line: Option<usize>,
) {
    if subject.mechanism.is_none() {
        return;
    }
    // A run asks a control for one context; by default there are two, which it does not have.
    if subject.is_control() && asked.variant.contexts != 1 {
        return;
    }
    // A run has long batches. In those of a few units, what happens once a batch, such as a guest's
    // exit, passes for part of each unit.
    if asked.batch_units > 0 || asked.batch_ns < SHORTEST_JUDGED_NS {
        return;
    }
    let ruling = judge(rule, asked, &probe_answer(answer));
    if went_another_way(&ruling.judgement) {
        return; // A single start shows no habit; `run` has several.
    }
    let Some(reason) = ruling.judgement.reason else { return };
    match ruling.judgement.verdict {
        Verdict::Contradicted => list.add("evidence", reason.to_string(), line),
        // It takes an emulator, which only a run starts.
        Verdict::Broken if matches!(reason, Reason::NotCounted { .. }) => {}
        Verdict::Broken => list.add("echo", reason.to_string(), None),
        _ => {}
    }
}

/// As the judge takes it.
fn probe_answer(answer: &Answer) -> ProbeAnswer<'_> {
    static NONE: Bounds = Bounds { control: Bound::None, content: None };
    let Answer { transcript, process, log, seen, .. } = answer;
    // What it printed stands below each breach.
    let log = if *process == ProcessEnd::NotStarted { log } else { "" };
    ProbeAnswer { transcript, process: *process, log, seen: seen.as_ref(), bound: &NONE }
}
