//! One answer against the rules.

use super::orders::Sent;
use super::subject::Subject;
use super::talk::{Answer, is_measurement};
use crate::experiments::acts;
use std::time::Duration;
use switchcost_analysis::{Bounds, ProbeAnswer, judge, went_another_way};
use switchcost_catalogue::{PlanEnd, PlanEntry};
use switchcost_model::{Due, EndStatus, Evidence, Phase, Plan, PlanEcho, ProcessEnd, Reason, Transcript, Verdict};
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
    if let Some(found) = no_answer(plan, answer) {
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

/// Nothing that could be judged came.
fn no_answer(plan: &PlanEntry, answer: &Answer) -> Option<Found> {
    let found = |rule: &str, what: String, line| Some(Found { rule: rule.to_owned(), what, line });
    if let Some(fault) = &answer.transcript.fault {
        return found("messages", fault.to_string(), usize::try_from(fault.line).ok());
    }
    if answer.transcript.end.is_some() {
        return None;
    }
    let rule = &plan.rule;
    match answer.process {
        ProcessEnd::NotStarted => found(rule, format!("it cannot be started: {}", answer.log.trim()), None),
        ProcessEnd::Exited(status) if answer.lines.is_empty() => {
            found(rule, format!("no message came where one belongs; it ended with exit status {status}"), None)
        }
        ProcessEnd::Exited(status) => {
            found("end", format!("it ended with exit status {status} before `end`"), Some(answer.lines.len()))
        }
        ProcessEnd::Signalled(signal) => {
            found("end", format!("signal {signal} ended it before `end`"), Some(answer.lines.len()))
        }
        ProcessEnd::Unknown => {
            found("end", "it ended before `end`, nobody could learn how".into(), Some(answer.lines.len()))
        }
        ProcessEnd::Deadline | ProcessEnd::Stopped => {
            found("end", "no `end` came in time; it was killed".into(), Some(answer.lines.len()))
        }
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
    let (Some(echo), Some(evidence)) = (&transcript.plan, &transcript.evidence) else {
        return list.add("messages", "neither `plan` nor `evidence` came before `end`", None);
    };
    let line =
        |name: &str| answer.lines.iter().position(|line| kind(line).as_deref() == Some(name)).map(|index| index + 1);
    let before = list.0.len();
    echoed(list, asked, echo, line("plan"));
    parameters(list, subject, asked, echo, line("plan"));
    laps(list, subject, asked, echo, line("plan"));
    counts(list, asked, echo, transcript);
    silence(list, asked, answer, line("plan"));
    let shown = line("evidence");
    if asked.variant.experiment.ring && asked.verify_units > 0 {
        let hops = evidence.hops.as_ref().filter(|hops| !hops.timed && hops.count + 1 < asked.verify_units);
        list.hold(hops.is_none(), "hops", shown, || {
            format!("{} hops were checked where {} were asked", hops.map_or(0, |hops| hops.count), asked.verify_units)
        });
    }
    for field in absent(subject, asked, evidence) {
        list.hold(evidence.why.contains_key(field), "why", shown, || {
            format!("`{field}` is absent, and `why` does not name it")
        });
    }
    if list.0.len() == before {
        judged(list, subject, asked, answer, shown);
    }
}

fn echoed(list: &mut List, asked: &Plan, echo: &PlanEcho, line: Option<usize>) {
    let variant = &asked.variant;
    let mut same = |what: &str, asked: String, done: String| {
        list.hold(asked == done, "echo", line, || format!("{what} is {done} where {asked} was asked"));
    };
    same("mechanism", variant.mechanism.to_string(), echo.mechanism.to_string());
    same("experiment", variant.experiment.to_string(), echo.experiment.to_string());
    same("timing", variant.timing.to_string(), echo.timing.to_string());
    same("contexts", variant.contexts.to_string(), echo.contexts.to_string());
    same("cpus", format!("{:?}", asked.cpus), format!("{:?}", echo.cpus));
    same("batches", asked.batches.to_string(), echo.batches.to_string());
    same("warmup_batches", asked.warmup_batches.to_string(), echo.warmup_batches.to_string());
}

fn parameters(list: &mut List, subject: &Subject<'_>, asked: &Plan, echo: &PlanEcho, line: Option<usize>) {
    for name in &subject.described.parameters {
        let (asked, done) = (asked.variant.parameters.get(name), echo.parameters.get(name));
        list.hold(asked == done, "parameters", line, || {
            let [asked, done] = [asked, done].map(|value| value.map_or("missing", String::as_str));
            format!("{name} is {done} where {asked} belongs")
        });
    }
    let strange = echo.parameters.keys().find(|name| !subject.described.parameters.contains(name));
    list.hold(strange.is_none(), "parameters", line, || {
        format!("{} is not one of the parameters that it describes", strange.map_or("", String::as_str))
    });
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

/// So many batches in each phase as asked; each interval once.
fn counts(list: &mut List, asked: &Plan, echo: &PlanEcho, transcript: &Transcript) {
    if asked.variant.experiment.in_one_batch() {
        return;
    }
    if asked.variant.each_unit() {
        let done: u64 = transcript.histograms.iter().filter(|h| h.phase == Phase::Measure).map(|h| h.units).sum();
        let due = echo.batch_units.saturating_mul(asked.batches);
        return list
            .hold(done == due, "batches", None, || format!("{done} intervals were recorded where {due} belong"));
    }
    let phases = [(Phase::Warmup, "warmup", asked.warmup_batches), (Phase::Measure, "batches", asked.batches)];
    for part in asked.variant.experiment.page().sent() {
        for (phase, rule, due) in phases {
            let of = transcript.samples.iter().filter(|s| s.phase == phase && s.quantity.as_deref() == part);
            let done: u64 = of.map(|samples| samples.ticks.len() as u64).sum();
            list.hold(done == due, rule, None, || {
                format!("{done} batches of phase {phase} came where {due} were asked")
            });
        }
    }
    let foreign = transcript.samples.iter().find(|samples| samples.units != echo.batch_units);
    list.hold(foreign.is_none(), "echo", None, || {
        let units = foreign.map_or(0, |samples| samples.units);
        format!("a batch has {units} units where `plan` says {}", echo.batch_units)
    });
}

/// Nothing comes between `plan` and the first samples, and those not before all batches can be over.
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
    // The host may read late, never early: what came sooner than the batches can have lasted was written during them.
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

/// Fields that could be expected and are not there.
fn absent(subject: &Subject<'_>, asked: &Plan, evidence: &Evidence) -> Vec<&'static str> {
    let experiment = asked.variant.experiment;
    let contexts = !subject.is_control();
    let absent = |due: &&Due| match due {
        Due::Turns => contexts && evidence.turns.is_none(),
        Due::Token => contexts && evidence.token.is_none(),
        Due::Kernel => contexts && evidence.kernel.is_none(),
        Due::Hops => subject.is_ring(experiment) && asked.verify_units > 0 && evidence.hops.is_none(),
        Due::Cpus => !asked.cpus.is_empty() && evidence.cpus.is_none(),
    };
    experiment.page().due.iter().filter(absent).map(|due| due.as_str()).collect()
}

/// The judge of runs, by the mechanism's own rule of evidence.
fn judged(list: &mut List, subject: &Subject<'_>, asked: &Plan, answer: &Answer, line: Option<usize>) {
    let Some(mechanism) = subject.mechanism else { return };
    // A run asks a control for one context; by default there are two, which it does not have.
    if subject.is_control() && asked.variant.contexts != 1 {
        return;
    }
    // A run has long batches. In those of a few units, what happens once a batch, such as a guest's exit, passes for part of each unit.
    if asked.batch_units > 0 || asked.batch_ns < SHORTEST_JUDGED_NS {
        return;
    }
    let probe_answer = ProbeAnswer {
        transcript: &answer.transcript,
        process: answer.process,
        log: &answer.log,
        seen: answer.seen.as_ref(),
        bound: &Bounds::default(),
    };
    let ruling = judge(&mechanism.rule(&asked.variant), asked, &probe_answer);
    if went_another_way(&ruling.judgement) {
        return; // A single start shows no habit; `run` has several.
    }
    let Some(reason) = ruling.judgement.reason else { return };
    match ruling.judgement.verdict {
        Verdict::Contradicted => list.add("evidence", reason.to_string(), line),
        // It takes an emulator, which only a run starts.
        Verdict::Broken if matches!(reason, Reason::NotCounted { .. }) => {}
        Verdict::Broken => list.add("echo", reason.to_string(), None),
        _ if matches!(reason, Reason::NotSeen { why: None, .. }) => list.add("why", reason.to_string(), line),
        _ => {}
    }
}
