//! Experiments whose units are due at times that were fixed beforehand: did these times pass, did
//! the tasks sleep until then, and was the load there?

mod chain;
mod limit;
mod tail;

use super::super::case::Case;
use super::super::claim::claimed_ns;
use super::super::host::most_leaving;
use super::rules::Rules;
use crate::series::ns_per_counter_tick;
use switchcost_model::{Histogram, Load, Reason, Scheduled};

/// Tasks of a probe in which nobody waits but the waiter and who wakes it.
const PARTNERS: u64 = 2;

pub(super) const RULES: Rules = Rules {
    refused,
    contradiction,
    overloaded,
    missing,
    in_no_figure: |seen| tail::traced(seen).is_some() && !limit::seeks(seen),
    remark: tail::waits,
    answer: limit::answer,
    found: limit::found,
    ..Rules::NONE
};

/// How the tasks were scheduled, and the load.
fn seen<'a>(case: &Case<'a>) -> Option<(&'a Scheduled, Load)> {
    Some((case.seen?.part.scheduled.as_ref()?, Load::of(&case.plan.variant.parameters)))
}

/// The class or the load that the row names could not be had.
fn refused(case: &Case<'_>) -> Option<Reason> {
    let why = seen(case)?.0.refused.clone()?;
    Some(Reason::LoadRefused { why })
}

/// The waiter cannot follow its period: its latencies are those of the backlog.
fn overloaded(case: &Case<'_>) -> Option<Reason> {
    let (scheduled, load) = seen(case)?;
    if scheduled.cut {
        return Some(Reason::Starved { after_ms: scheduled.between_ns / 1_000_000 });
    }
    let wakes = case.evidence.kernel.as_ref()?.voluntary;
    let intended = case.evidence.units;
    // Who works at a share of what a CPU can do is woken for the rest of it.
    let most = case.constants.most_a_wake / (1.0 - load.work);
    (intended as f64 > most * wakes as f64).then_some(Reason::Overloaded { wakes, intended, most: Some(most) })
}

fn missing(case: &Case<'_>) -> Option<Reason> {
    if case.evidence.kernel.is_none() {
        let why = case.evidence.why.get("kernel").cloned();
        return Some(Reason::NotSeen { what: "the kernel's switch count".to_owned(), why });
    }
    let looked = |scheduled: &Scheduled| scheduled.between_ns > 0 && !scheduled.classes.is_empty();
    let Some((scheduled, load)) = seen(case).filter(|(scheduled, _)| looked(scheduled)) else {
        return Some(Reason::NotLookedAt);
    };
    came_late(case, scheduled, &load).or_else(|| starved(case, scheduled, &load)).or_else(|| {
        let [used_ms, of_ms, most_ms] = busy(case, scheduled, load.work, 0.0)?;
        Some(Reason::MaySpin { used_ms, of_ms, most_ms: Some(most_ms) })
    })
}

/// Until the load is there the warm-up goes on: intended times that are recorded and do not count.
fn came_late(case: &Case<'_>, scheduled: &Scheduled, load: &Load) -> Option<Reason> {
    let planned = case.plan.warmup_batches.saturating_mul(case.echo.batch_units).saturating_mul(load.period_ns);
    let late = scheduled.loaded_ns?.saturating_sub(case.seen?.plan_ns?);
    let most_ms = Some(planned as f64 / 1e6);
    (late > planned).then_some(Reason::LoadLate { late_ms: late / 1_000_000, most_ms })
}

fn contradiction(case: &Case<'_>) -> Option<Reason> {
    let (scheduled, load) = seen(case).filter(|(scheduled, _)| scheduled.between_ns > 0)?;
    otherwise(scheduled, &load)
        .or_else(|| scheduled.hogs_stopped.then_some(Reason::HogsStopped))
        .or_else(|| never_slept(case, scheduled, &load))
        .or_else(|| off_beat(case, scheduled, &load))
        .or_else(|| chain::broken(case, &load))
        .or_else(|| waited_longer(case, scheduled, &load))
        .or_else(|| worked_less(case, scheduled, &load))
        .or_else(|| finished_early(case, &load))
}

/// The host sets class and nice value: if a task has others at either look, the probe has changed
/// them.
fn otherwise(scheduled: &Scheduled, load: &Load) -> Option<Reason> {
    let differs = |what: &str, seen: Vec<String>, asked: String| {
        let other = seen.iter().any(|seen| *seen != asked);
        other.then(|| Reason::ScheduledOtherwise { what: what.to_owned(), seen: seen.join(" and "), asked })
    };
    let fair = matches!(load.class.as_str(), "other" | "batch");
    let texts = |all: &mut dyn Iterator<Item = String>| all.collect::<Vec<_>>();
    differs("class", texts(&mut scheduled.classes.iter().cloned()), load.class.clone())
        .or_else(|| {
            let nices = texts(&mut scheduled.nices.iter().map(i32::to_string));
            differs("nice value", nices, load.nice.to_string()).filter(|_| fair)
        })
        .or_else(|| {
            let slices = texts(&mut scheduled.slices_ns.iter().map(u64::to_string));
            differs("slice in ns", slices, load.slice_ns.to_string()).filter(|_| fair && load.slice_ns > 0)
        })
}

/// Hogs that compute take what they get. Those that sleep between forks, or come after everybody
/// else, need not get any.
fn starved(case: &Case<'_>, scheduled: &Scheduled, load: &Load) -> Option<Reason> {
    let tree = case.seen?.tree.as_ref()?;
    let cpus = if case.plan.cpus.is_empty() { tree.allowed_cpus.len() } else { case.plan.cpus.len() };
    let share = scheduled.hogs_cpu_ns as f64 / (scheduled.between_ns as f64 * cpus as f64);
    let computes = scheduled.hogs > 0 && !load.forking && load.hog_class != "idle";
    let least = case.constants.least_hogged;
    (computes && share < least).then_some(Reason::HogsStarved { share, least: Some(least) })
}

/// Who sleeps until a time uses the CPU for little of it, beside what each wake-up takes.
fn never_slept(case: &Case<'_>, scheduled: &Scheduled, load: &Load) -> Option<Reason> {
    let wakes = case.evidence.kernel.as_ref()?.voluntary;
    let [used_ms, of_ms, most_ms] = busy(case, scheduled, load.work, case.constants.wake_ns * wakes as f64)?;
    Some(Reason::NeverSlept { used_ms, of_ms, most_ms: Some(most_ms) })
}

/// CPU time that its tasks used since the look, and until then, ns.
fn used(case: &Case<'_>) -> Option<(f64, u64)> {
    let seen = case.seen?;
    let before = seen.tree.as_ref()?.cpu_ns;
    Some((seen.cpu_ns.saturating_sub(before) as f64, before))
}

/// CPU time that its tasks used, the time that this was in, and the most that tasks use which sleep
/// but for `work` of it, with `beside` (ns); all in ms, if it is more.
fn busy(case: &Case<'_>, scheduled: &Scheduled, work: f64, beside: f64) -> Option<[f64; 3]> {
    let (used, before) = used(case)?;
    let most = (case.constants.waiter_busy + work) * scheduled.between_ns as f64
        + (case.constants.leaving * before as f64).min(most_leaving(case))
        + case.constants.missing_time_ns
        + beside;
    (used > most).then_some([used, scheduled.between_ns as f64, most].map(|ns| ns / 1e6))
}

/// What each histogram says, in ns.
fn latencies<'a>(case: &'a Case<'_>, of: impl Fn(&Histogram) -> u64 + 'a) -> impl Iterator<Item = f64> + 'a {
    let ns = |histogram: &Histogram| ns_per_counter_tick(histogram, case.transcript).unwrap_or(1.0);
    case.transcript.histograms.iter().map(move |histogram| of(histogram) as f64 * ns(histogram))
}

/// So many periods take so long, neither more nor less, whatever the latencies.
fn off_beat(case: &Case<'_>, scheduled: &Scheduled, load: &Load) -> Option<Reason> {
    let intended = case.evidence.units;
    // A Poisson process is over at its last event: what follows is as long once in a million.
    let last = 14 * u64::from(load.drawn || load.work > 0.0);
    let [due, last] = [intended, last].map(|periods| periods as f64 * load.period_ns as f64);
    let longest = latencies(case, |histogram| histogram.max).fold(0.0, f64::max);
    let beat = |took: f64, at_most: f64, more: f64, less: f64| {
        let most = due * (1.0 + case.constants.beat_share) + longest + more;
        let least = due * (1.0 - case.constants.beat_share) - less - last;
        let took_in = if took > most { took } else { at_most };
        let [due_ms, took_ms, least_ms, most_ms] = [due, took_in, least, most].map(|ns| ns / 1e6);
        let (least_ms, most_ms) = (Some(least_ms), Some(most_ms));
        let off = took > most || at_most < least;
        off.then_some(Reason::OffBeat { intended, due_ms, took_ms, least_ms, most_ms })
    };
    // By its own clock nothing comes in between.
    let [claimed, seen] = [claimed_ns(case), scheduled.between_ns as f64];
    let own = beat(claimed, claimed, case.constants.clock_ns + longest, case.constants.clock_ns);
    // On a busy machine the host may read the plan late: it began after the start, however late.
    let since_start = seen + case.seen.and_then(|seen| seen.plan_ns).map_or(0.0, |ns| ns as f64);
    // If the load was cut, the host was busy with its end between the looks, and the row has no
    // figure.
    own.or_else(|| {
        let (more, less) = (case.constants.beat_ns + longest, case.constants.early_ns + longest);
        beat(seen, since_start, more, less).filter(|_| !scheduled.cut)
    })
}

/// Requests take CPU time: the kernel counts less if their work was not done.
fn worked_less(case: &Case<'_>, scheduled: &Scheduled, load: &Load) -> Option<Reason> {
    let (due, (used, _)) = (load.work * (case.evidence.units as f64) * load.period_ns as f64, used(case)?);
    let least = case.constants.least_worked * due;
    let [used_ms, of_ms, due_ms, least_ms] = [used, scheduled.between_ns as f64, due, least].map(|ns| ns / 1e6);
    (used < least).then_some(Reason::WorkedLess { used_ms, of_ms, due_ms, least_ms: Some(least_ms) })
}

/// No request is finished before its own work is.
fn finished_early(case: &Case<'_>, load: &Load) -> Option<Reason> {
    let due = load.work * load.period_ns as f64;
    let least = latencies(case, |histogram| histogram.min).reduce(f64::min)?;
    let needed = case.constants.least_worked * due;
    let [least_us, due_us, needed_us] = [least, due, needed].map(|ns| ns / 1e3);
    let early = !load.until_begun && least < needed;
    early.then_some(Reason::FinishedEarly { least_us, due_us, needed_us: Some(needed_us) })
}

/// Whoever waits for a CPU is late by at least as long.
fn waited_longer(case: &Case<'_>, scheduled: &Scheduled, load: &Load) -> Option<Reason> {
    let (seen, units) = (case.seen?, case.evidence.units as f64);
    let tree = seen.tree.as_ref()?;
    // Nobody waits for the helpers of a runtime, nor for the rest of a request whose latency ends
    // where its work begins. If the load came after the last time, so did the waits for it.
    if tree.tasks > PARTNERS || load.until_begun || came_late(case, scheduled, load).is_some() {
        return None;
    }
    // A timer wheel wakes its task between two times as well, and such waits are in no latency.
    let since_plan = seen.voluntary.saturating_add(seen.involuntary).saturating_sub(tree.switches);
    let wakes = case.evidence.kernel.as_ref()?.voluntary.min(since_plan) as f64;
    let waited = scheduled.waited_ns? as f64;
    let claimed: f64 = latencies(case, |histogram| histogram.sum).sum();
    let least = case.constants.waited_share * waited * units / wakes.max(units) - case.constants.waited_ns;
    let [claimed_ms, waited_ms, least_ms] = [claimed, waited, least].map(|ns| ns / 1e6);
    (claimed < least).then_some(Reason::WaitedLonger { claimed_ms, waited_ms, least_ms: Some(least_ms) })
}
