//! Why a start or a row has the verdict that it has: what was found, as data, and the one place
//! that makes a sentence of it.

mod words;

use crate::{Fault, Obstacle, Silence, TightLimits};
use serde::{Deserialize, Serialize};
pub use words::LastWords;
use words::{bound, clause, install, kind_of, only_cpu, perhaps_infinite, range};

/// What a rule found. It is data from the rule to the store, the page and every format; its
/// sentence is what `Display` gives.
///
/// In JSON it is an object whose `code` names the kind. Times are in the unit that the field's name
/// ends with; `least` and `most` are what was expected.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "code", rename_all = "snake_case")]
#[allow(missing_docs, reason = "each sentence says what its fields are")]
#[rustfmt::skip] // A field that older runs lack is one line with its attribute.
pub enum Reason {
    // The host has no usable answer.
    #[error("the probe broke the protocol: {fault}{words}")]
    ProtocolBroken { fault: Box<Fault>, words: LastWords },
    #[error(
        "the probe answered but did not leave within {limit_ms} ms or by the end of the budget; it was killed{words}"
    )]
    DidNotLeave { limit_ms: u64, words: LastWords },
    #[error("no answer within {limit_ms} ms; the probe and all its processes were killed")]
    NoAnswer { limit_ms: u64 },
    #[error(
        "no answer within {limit_ms} ms, of which its tasks waited {waited_ms} ms for CPUs that other programs had; measure again when less runs"
    )]
    Crowded { limit_ms: u64, waited_ms: u64 },
    #[error("the probe could not be started: {why}")]
    NotStarted { why: String },
    #[error("the probe was killed by signal {signal}{}{words}{limits}", if *signal == 31 { " (SIGSYS: a filter of the session forbids a system call)" } else { "" })]
    Killed { signal: i32, words: LastWords, #[serde(default, skip_serializing_if = "TightLimits::is_empty")] limits: TightLimits },
    #[error(
        "the probe ended, and the host could not learn how, nor what the kernel counted of it; another program may have reaped it"
    )]
    EndUnknown,
    #[error("the probe ended with exit status {status} before `end`{words}{limits}")]
    EndedEarly { status: i32, words: LastWords, #[serde(default, skip_serializing_if = "TightLimits::is_empty")] limits: TightLimits },
    #[error("`end` says {end} but the exit status is {status}{words}")]
    StatusesDiffer { end: String, status: i32, words: LastWords },
    #[error("no `plan` before `end`")]
    NoPlan,
    #[error("neither plan nor evidence came before `end`")]
    NoEvidence,
    #[error("the probe carried out another plan: {what} is {done}, asked was {asked}")]
    OtherPlan { what: String, done: String, asked: String },
    #[error("{recorded} intervals were recorded where {asked} were asked")]
    IntervalsMissing { recorded: u64, asked: u64 },
    #[error("{arrived} {phase} batches arrived where {asked} were asked")]
    BatchesMissing { phase: String, arrived: u64, asked: u64 },
    #[error("a batch has {units} units where the plan says {planned}")]
    OtherBatch { units: u64, planned: u64 },
    #[error("the probe refused the plan: {detail}")]
    Refused { detail: String },
    #[error("the probe failed: {detail}")]
    Failed { detail: String },

    #[error(
        "overloaded: {wakes} wake-ups served {intended} intended times{}; the period is too short for this waiter beside this load: take a longer one, --param period=…",
        bound(", more than", most, " each")
    )]
    Overloaded { wakes: u64, intended: u64, #[serde(skip_serializing_if = "Option::is_none")] most: Option<f64> },
    #[error(
        "overloaded: the waiter had not come to its end {after_ms} ms after it began, as others had the CPU; take a longer period, less load, fewer hogs or another class, or measure when nothing else runs"
    )]
    Starved { after_ms: u64 },
    #[error("this row cannot run here: {why}")]
    LoadRefused { why: Obstacle },
    #[error(
        "the load came {late_ms} ms after the plan, when the warm-up was over{}",
        bound(", which takes", most_ms, " ms")
    )]
    LoadLate { late_ms: u64, #[serde(skip_serializing_if = "Option::is_none")] most_ms: Option<f64> },
    #[error("the tasks have {what} {seen} where {asked} was asked")]
    ScheduledOtherwise { what: String, seen: String, asked: String },
    #[error("somebody stopped the hogs")]
    HogsStopped,
    #[error(
        "the hogs used {share:.3} of the CPUs that they were put on{}: the load was not there",
        bound(", where", least, " or more is due")
    )]
    HogsStarved { share: f64, #[serde(skip_serializing_if = "Option::is_none")] least: Option<f64> },
    #[error(
        "{intended} intended times take {due_ms:.0} ms, and {took_ms:.0} ms went by{}{}: some were skipped, or counted from the wake-up before",
        bound("; at least", least_ms, " ms must"),
        bound("; at most", most_ms, " ms may")
    )]
    OffBeat { intended: u64, due_ms: f64, took_ms: f64, #[serde(skip_serializing_if = "Option::is_none")] least_ms: Option<f64>, #[serde(skip_serializing_if = "Option::is_none")] most_ms: Option<f64> },
    #[error(
        "the tasks used {used_ms:.0} ms of CPU time in {of_ms:.0} ms{}: they do not sleep until a time has come",
        bound(", more than the", most_ms, " ms of sleepers")
    )]
    NeverSlept { used_ms: f64, of_ms: f64, #[serde(skip_serializing_if = "Option::is_none")] most_ms: Option<f64> },
    #[error(
        "the tasks used {used_ms:.0} ms of CPU time in {of_ms:.0} ms{}, which wake-ups alone may take: whether they slept is not seen; take a longer period, --param period=…",
        bound(", more than", most_ms, " ms")
    )]
    MaySpin { used_ms: f64, of_ms: f64, #[serde(skip_serializing_if = "Option::is_none")] most_ms: Option<f64> },
    #[error(
        "{shared} intended times had no wake-up of their own, so that as many were late by about a period or more, and the latencies have {late}{}",
        bound("; for", spared, " there may be another cause")
    )]
    FewLate { late: u64, shared: u64, #[serde(skip_serializing_if = "Option::is_none")] spared: Option<f64> },
    #[error(
        "of {of} latencies of a period or more {alone} have none that is a period shorter, though the next time was due meanwhile{}",
        bound("; for", spared, " there may be another cause")
    )]
    Unfollowed { alone: u64, of: u64, #[serde(skip_serializing_if = "Option::is_none")] spared: Option<f64> },
    #[error(
        "the latencies add up to {claimed_ms:.1} ms where the kernel let the tasks wait {waited_ms:.1} ms for a CPU{}",
        bound(", of which at least", least_ms, " ms must be in them")
    )]
    WaitedLonger { claimed_ms: f64, waited_ms: f64, #[serde(skip_serializing_if = "Option::is_none")] least_ms: Option<f64> },
    #[error(
        "the tasks used {used_ms:.0} ms of CPU time in {of_ms:.0} ms, less than the {due_ms:.0} ms that the work of their requests takes{}",
        bound("; at least", least_ms, " ms must be used")
    )]
    WorkedLess { used_ms: f64, of_ms: f64, due_ms: f64, #[serde(skip_serializing_if = "Option::is_none")] least_ms: Option<f64> },
    #[error(
        "a request was finished {least_us:.1} µs after it was due, where its work alone takes {due_us:.1} µs{}",
        bound("; at least", needed_us, " µs must go by")
    )]
    FinishedEarly { least_us: f64, due_us: f64, #[serde(skip_serializing_if = "Option::is_none")] needed_us: Option<f64> },

    // Gaps.
    #[error(
        "{units} gaps and their wake-ups take {due_ms:.0} ms, and {took_ms:.0} ms went by{}",
        bound("; at least", least_ms, " ms must")
    )]
    GapsDoNotFit { units: u64, due_ms: f64, took_ms: f64, #[serde(skip_serializing_if = "Option::is_none")] least_ms: Option<f64> },
    #[error(
        "CPU {cpu} idled {idle_ms:.0} ms where the gaps take {gaps_ms:.0} ms{}: other programs had it, or its task did not sleep; measure again when nothing else runs",
        bound(", and it must idle for", least_ms, " ms of them")
    )]
    NotIdle { cpu: u32, idle_ms: f64, gaps_ms: f64, #[serde(skip_serializing_if = "Option::is_none")] least_ms: Option<f64> },

    // Counted experiments.
    #[error("what it executes could not be counted: {why}")]
    NotCounted { why: Obstacle },
    #[error("what it executes cannot be counted here: {why}")]
    CountRefused { why: Obstacle },
    #[error(
        "{per_unit:.3} instructions per unit are fewer than a switch has{}: the work was optimised away, or done elsewhere",
        bound(" (at least", least, ")")
    )]
    NoInstructions { per_unit: f64, #[serde(skip_serializing_if = "Option::is_none")] least: Option<f64> },

    #[error("{by} traces the probe, and each of its stops counts as a kernel switch of the row; measure without it")]
    Traced { by: String },

    #[error(
        "the machine was watched ({by}), and what that adds around the batches cannot be kept apart from a slow clock; measure without it"
    )]
    Watched { by: String },

    #[error(
        "switchcost is translated for {below} while it runs, and a time would be the translator's; use a build for it"
    )]
    Translated { below: String },

    // The evidence against the claim, or against itself.
    #[error("other than the row names: {instead}")]
    OtherWay { instead: Box<Reason> },
    #[error("the evidence covers {evidence} units, the batches report {reported}")]
    UnitsDiffer { evidence: u64, reported: u64 },
    #[error("the token advanced by {token} where {claimed} switches were claimed")]
    TokenDiffers { token: u64, claimed: u64 },
    #[error("a {experiment} was claimed in {quantity}; expected one of {}", .known.join(", "))]
    OtherQuantity { experiment: String, quantity: String, known: Vec<String> },
    #[error("{quantity} of {claimed} contexts was claimed where {asked} were asked")]
    OtherContexts { quantity: String, claimed: u64, asked: u64 },
    #[error("{bytes} {quantity} are more than an address space holds")]
    BeyondAddressSpace { quantity: String, bytes: i64 },
    #[error("the contexts counted {turns} turns where {claimed} were claimed")]
    TurnsDiffer { turns: u64, claimed: u64 },
    #[error("{took_part} contexts took part where {asked} were asked")]
    ContextsDiffer { took_part: u64, asked: u64 },
    #[error("{turns} turns cannot be the sum of {contexts} contexts with {min} to {max} each")]
    TurnsCannotAdd { turns: u64, contexts: u64, min: u64, max: u64 },
    #[error("one context had {max} turns, another {min}: no ring was passed round")]
    NoRing { min: u64, max: u64 },
    #[error(
        "the kernel counted {counted} switches for {units} claimed ({:.3} each) where the mechanism makes {}{}",
        counted / *units as f64,
        range(*least, *most),
        bound("; with all that may come between, the bound is", limit, "")
    )]
    KernelSwitches {
        counted: f64,
        units: u64,
        least: f64,
        #[serde(deserialize_with = "perhaps_infinite")]
        most: f64,
        #[serde(skip_serializing_if = "Option::is_none")] limit: Option<f64>,
    },
    #[error("{claimed} address spaces where the mechanism has {needed}")]
    AddressSpaces { claimed: u64, needed: u64 },
    #[error("a context ran on CPU {cpu} where {planned:?} was planned")]
    OtherCpu { cpu: u32, planned: Vec<u32> },
    #[error("contexts changed the CPU {times} times where only CPU {cpu} was planned")]
    ChangedCpu { times: u64, cpu: u32 },
    #[error("no context ran on CPU {cpu} where {planned:?} were planned")]
    UnusedCpu { cpu: u32, planned: Vec<u32> },
    #[error(
        "{involuntary:.0} kernel switches were involuntary{}: contexts shared a CPU where each should have its own",
        bound(", more than the", most, " that others cause")
    )]
    SharedCpu { involuntary: f64, #[serde(skip_serializing_if = "Option::is_none")] most: Option<f64> },
    #[error("only {in_order} of {checked} switches went to the next context of the ring")]
    OutOfOrder { in_order: u64, checked: u64 },
    #[error("more switches stayed on one CPU or thread than there were ({checked})")]
    MoreStayed { checked: u64 },
    #[error("the order of {checked} switches was checked in {units} units")]
    MoreChecked { checked: u64, units: u64 },
    #[error("{changed} of {checked} switches changed the CPU where one was planned")]
    SwitchesChangedCpu { changed: u64, checked: u64 },
    #[error("{stayed} of {checked} switches stayed on one CPU where each should change it")]
    SwitchesStayed { stayed: u64, checked: u64 },
    #[error("{:.1} % of switches stayed on one CPU where {least} to {most} was expected", share * 100.0)]
    StayedShare {
        share: f64,
        least: f64,
        #[serde(deserialize_with = "perhaps_infinite")]
        most: f64,
    },
    #[error(
        "{ns:.3} ns per unit is near {control} ({control_ns:.3} ns{}), which does not switch and was measured in {starts} start{}: too few to tell a slowed control from work that was optimised away; more --rounds do",
        bound("; at least", times, " times as much is due"),
        if *starts == 1 { "" } else { "s" }
    )]
    NearControl { ns: f64, control: String, control_ns: f64, starts: usize, #[serde(skip_serializing_if = "Option::is_none")] times: Option<f64> },
    #[error(
        "{name}: {observed:.3} per unit where {least} to {most} was expected{}",
        bound("; with all that may come between, the bound is", limit, "")
    )]
    CountPerUnit {
        name: String,
        observed: f64,
        least: f64,
        #[serde(deserialize_with = "perhaps_infinite")]
        most: f64,
        #[serde(skip_serializing_if = "Option::is_none")] limit: Option<f64>,
    },
    #[error("{name} is {observed} where the mechanism needs {needed}")]
    CountTooSmall { name: String, observed: i64, needed: i64 },
    #[error(
        "the contexts kept {busy:.2} CPUs busy where at most {most} can be if those that wait block{}",
        bound("; with what is around the batches, the bound is", limit, "")
    )]
    TooBusy { busy: f64, most: f64, #[serde(skip_serializing_if = "Option::is_none")] limit: Option<f64> },
    #[error("{name} is {count}; a count cannot be negative")]
    NegativeCount { name: String, count: i64 },
    #[error(
        "a batch of {units} units took {ticks} ticks{}: the clock stood still",
        bound(", fewer than", limit, "")
    )]
    ClockStoodStill { units: u64, ticks: i64, #[serde(skip_serializing_if = "Option::is_none")] limit: Option<f64> },
    #[error(
        "{ns:.4} ns per unit is less than one clock cycle{}: the work was optimised away or miscounted",
        bound(", for which we take", least_ns, " ns")
    )]
    BelowOneCycle { ns: f64, #[serde(skip_serializing_if = "Option::is_none")] least_ns: Option<f64> },
    #[error(
        "{ns:.3} ns per unit is less than {times} times {control} in the same run ({control_ns:.3} ns), which does not switch: the work was optimised away or miscounted"
    )]
    BelowControl { ns: f64, times: f64, control: String, control_ns: f64 },

    #[error(
        "{ns:.0} ns per unit is less than the {least_ns:.0} ns that {of} takes at least in this run: it was not done"
    )]
    BelowContent { ns: f64, of: String, least_ns: f64 },

    // A histogram against itself.
    #[error("the shortest interval, {min}, is longer than the longest, {max}")]
    ShortestAboveLongest { min: u64, max: u64 },
    #[error("the shortest interval, {min}, lies outside the first bucket")]
    ShortestOutside { min: u64 },
    #[error("the longest interval, {max}, lies outside the last bucket")]
    LongestOutside { max: u64 },
    #[error("the intervals add up to {sum}, the buckets to {least} to {most}")]
    SumOutside { sum: u64, least: u64, most: u64 },
    #[error("the counter's own cost was read {readings} times beside {intervals} intervals")]
    ReadingsDiffer { readings: u64, intervals: u64 },
    #[error("{readings} readings of the counter cost nothing")]
    FreeReadings { readings: u64 },
    #[error("the counter's rate is unknown: a span of 0 was told")]
    NoSpan,
    #[error("the intervals and their readings take {inside} counter ticks of a span of {span}")]
    SpanTooShort { inside: u64, span: u64 },

    // What the host saw by itself against the claim.
    #[error(
        "the batches lasted {claimed_ms:.1} ms by the probe's clock, but its last samples arrived {lived_ms:.1} ms after its start{}",
        bound("; at most", most_ms, " ms would fit")
    )]
    LongerThanLived { claimed_ms: f64, lived_ms: f64, #[serde(skip_serializing_if = "Option::is_none")] most_ms: Option<f64> },
    #[error(
        "the evidence has {claimed:.0} {}kernel switches, but the kernel counted {counted:.0} for the probe and all its processes",
        kind_of(kind)
    )]
    KernelCountedFewer { kind: String, claimed: f64, counted: f64 },
    #[error(
        "the evidence has {claimed_ms:.1} ms of CPU time, but the kernel counted {counted_ms:.1} ms for the probe and all its processes{}",
        bound("; at most", most_ms, " ms would fit")
    )]
    LessCpuTime { claimed_ms: f64, counted_ms: f64, #[serde(skip_serializing_if = "Option::is_none")] most_ms: Option<f64> },
    #[error("{mechanism} cannot have more contexts than {most}: leave --contexts out")]
    TooManyContexts { mechanism: String, most: u64 },
    #[error(
        "in the best start the contexts used {used_ms:.1} ms of CPU time, but the batches lasted {claimed_ms:.1} ms on one CPU{}",
        bound("; at least", least_ms, " ms would fit")
    )]
    IdleContexts { used_ms: f64, claimed_ms: f64, #[serde(skip_serializing_if = "Option::is_none")] least_ms: Option<f64> },
    #[error("two starts gave the same {batches} times to the last tick: one was replayed")]
    Replayed { batches: usize },
    #[error(
        "the cycle counter ran at {claimed_mhz:.0} MHz by the probe, at {known_mhz:.0} MHz by the host{}",
        bound("; they may differ by", most_mhz, " MHz")
    )]
    CounterRate { claimed_mhz: f64, known_mhz: f64, #[serde(skip_serializing_if = "Option::is_none")] most_mhz: Option<f64> },
    #[error("the clock has {claimed} ticks per second by the probe, {known} by its definition")]
    ClockRate { claimed: u64, known: u64 },
    #[error("{created} tasks were created on the whole machine meanwhile, but {needed:.0} are claimed")]
    FewerTasksCreated {
        created: u64,
        #[serde(deserialize_with = "perhaps_infinite")]
        needed: f64,
    },
    #[error(
        "the kernel counted {counted:.0} switches of the probe's tasks after `plan` where the evidence has {claimed:.0} for {units:.0} units{}",
        bound("; at most", most, " would fit")
    )]
    HiddenSwitches { counted: f64, claimed: f64, units: f64, #[serde(skip_serializing_if = "Option::is_none")] most: Option<f64> },
    #[error(
        "the evidence has {claimed:.0} page faults, but the kernel counted {counted:.0} for the probe and all its processes"
    )]
    FewerPageFaults { claimed: f64, counted: f64 },
    #[error(
        "the kernel counted {counted:.0} page faults after `plan` where the evidence has {claimed:.0}{}",
        bound("; at most", most, " would fit")
    )]
    HiddenPageFaults { counted: f64, claimed: f64, #[serde(skip_serializing_if = "Option::is_none")] most: Option<f64> },
    #[error(
        "the batches lasted {claimed_ms:.1} ms by the probe's clock, but it used {used_ms:.1} ms of CPU time for them{}",
        bound("; at most", most_ms, " ms would fit")
    )]
    TimeMissing { claimed_ms: f64, used_ms: f64, #[serde(skip_serializing_if = "Option::is_none")] most_ms: Option<f64> },
    #[error(
        "the contexts block, but the kernel counted {voluntary} switches because they waited in {units} units{}",
        bound("; at least", least, " must be")
    )]
    NeverBlocked { voluntary: u64, units: u64, #[serde(skip_serializing_if = "Option::is_none")] least: Option<f64> },
    #[error("the host saw {seen} {what} where the mechanism has {needed}")]
    HostSawFewer { what: String, seen: u64, needed: u64 },
    #[error("the evidence names CPU {cpu}, which none of the probe's tasks may use")]
    ForbiddenCpu { cpu: u32 },
    #[error("the host saw tasks that may run on CPU {cpu} where {planned:?} was planned")]
    MayRunElsewhere { cpu: u32, planned: Vec<u32> },
    #[error("the host saw no task on CPU {cpu} where {planned:?} were planned")]
    NoTaskOnCpu { cpu: u32, planned: Vec<u32> },
    #[error("the probe gave process id {pid}, which is none of its processes")]
    ForeignProcess { pid: u64 },

    // What the rule needs and nobody told.
    #[error("{what} cannot be seen here: {}", .why.as_deref().unwrap_or("the probe gave no reason"))]
    NotSeen { what: String, why: Option<String> },
    #[error(
        "the state that was asked for did not come about: {name} is {observed} where {needed} or more show it; other work may have kept the CPUs"
    )]
    NotReached { name: String, observed: i64, needed: i64 },
    #[error("no control that bounds it from below was measured beside it (`bound` of its page)")]
    Unbounded,
    #[error("{checked} switches were checked where {asked} were asked")]
    FewChecked { checked: u64, asked: u64 },
    #[error(
        "below the resolution of the reading: {:.1} counter ticks are left of an interval when the {reading:.1} of reading the counter are taken off{}",
        (left * 10.0).round() / 10.0 + 0.0,
        bound("; at least", least, " must be")
    )]
    BelowReading { left: f64, reading: f64, #[serde(skip_serializing_if = "Option::is_none")] least: Option<f64> },
    #[error("below the resolution: {quantity} fell by {by:.0} {unit} per context while contexts were made")]
    FellBelowZero { quantity: String, by: f64, unit: String },
    #[error("below the resolution: in half of the batches a {unit} took no time beyond the same work without it")]
    NothingLeft { unit: String },
    #[error(
        "`plan` came only with the samples, or the probe had answered before the host had looked at its tasks; allow longer batches by --batch-time"
    )]
    NotLookedAt,
    #[error("what the host saw by itself is not stored with this run; measure again")]
    NoHostView,
    #[error("the host cannot read the {what} of the probe's processes")]
    HostCannotRead { what: String },
    #[error("this system does not count the tasks that are created")]
    TasksNotCounted,
    #[error("this version has no rule for the mechanism")]
    NoRule,

    // Of a row that has starts, or none yet.
    #[error("{reason} (in {starts} of {of} starts)")]
    InSomeStarts { reason: Box<Reason>, starts: usize, of: usize },
    #[error("the run was interrupted before its first start ended")]
    Interrupted,
    #[error("the run has not reached its first start")]
    NotYet,
    #[error("no time left to measure it; allow more with --budget")]
    NoBudget,

    // Of a row that cannot be measured here.
    #[error("{detail}")]
    Unsupported { detail: String },
    #[error("{mechanism} has no experiment {experiment}{}; it has {}", clause(only), .known.join(", "))]
    NoExperiment {
        mechanism: String,
        experiment: String,
        known: Vec<String>,
        /// Which mechanisms can have it.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        only: String,
    },
    #[error("placement {placement} cannot be measured for {mechanism}; it has {}", .known.join(", "))]
    NoPlacement { mechanism: String, placement: String, known: Vec<String> },
    #[error("{what} of {mechanism} changes nothing in experiment {experiment}")]
    AxisWithoutEffect { mechanism: String, what: String, experiment: String },
    #[error("{mechanism} has no {what}")]
    NoAxis { mechanism: String, what: String },
    #[error("{name}: {why}")]
    ValueRefused { name: String, why: Obstacle },
    #[error("experiment {experiment} has no single switches to time; leave --timing each out")]
    NotOneByOne { experiment: String },
    #[error("a ring needs at least 2 contexts; say --contexts 2 or more")]
    RingOfOne,
    #[error("CPU {cpu} is not one of those that may be used, {allowed}")]
    CpuNotAllowed { cpu: u32, allowed: String },
    #[error("{}", only_cpu(*cpu, restriction.as_deref()))]
    OneCpu { cpu: u32, restriction: Option<String> },
    #[error("{}{}", why.trim_end_matches('.'), install(package))]
    Unavailable { why: String, package: Option<String> },
    #[error("this probe has no {what} {name} of {mechanism}")]
    ProbeLacks { what: String, name: String, mechanism: String },
    #[error("no probe of source {kit} is installed; run `make build`")]
    NotInstalled { kit: String },
    #[error("probe {probe}: {why}{limits}{}", install(package))]
    ProbeUnable { probe: String, why: Box<Silence>, limits: TightLimits, package: Option<String> },
    #[error("no chosen probe implements it (it is part of probes/{kits})")]
    NotChosen { kits: String },
    #[error("the probe {probes} does not describe it (it is part of probes/{kits})")]
    NotDescribed { probes: String, kits: String },
    #[error("the probe {probe} describes it and is of source {kit}: ask for it by --probe {probe}")]
    OfAnotherKit { probe: String, kit: String },
    #[error("{fault}")]
    PageBroken { fault: String },
    #[error("{}", .reasons.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Several { reasons: Vec<Reason> },
}
