//! The probe's evidence against its own claim and the mechanism's rule.

use super::case::{Bound, Case, Content};
use super::constants::Constants;
use switchcost_model::{
    Disturbance, Evidence, Experiment, Hops, Phase, Quantity, Reason, Samples, Transcript, Turns, Variant,
};

pub(super) fn contradiction(case: &Case<'_>) -> Option<Reason> {
    let (evidence, experiment) = (case.evidence, case.experiment());
    if experiment.in_one_batch() {
        return once_each(case);
    }
    let reported = reported_units(case);
    if evidence.units != reported {
        return Some(Reason::UnitsDiffer { evidence: evidence.units, reported });
    }
    let expected = evidence.units.saturating_mul(experiment.turns_per_unit);
    evidence
        .turns
        .as_ref()
        .and_then(|turns| wrong_turns(case, turns, expected))
        .or_else(|| {
            let token = evidence.token.filter(|&token| token != expected)?;
            Some(Reason::TokenDiffers { token, claimed: expected })
        })
        .or_else(|| wrong_kernel_switches(case))
        .or_else(|| wrong_address_spaces(case))
        .or_else(|| wrong_cpus(case))
        .or_else(|| shared_cpu(case))
        .or_else(|| evidence.hops.as_ref().and_then(|hops| wrong_hops(case, hops)))
        .or_else(|| wrong_counts(case))
        .or_else(|| too_few(case))
        .or_else(|| too_few_a_block(case))
        .or_else(|| too_busy(case))
        .or_else(|| slow_clock(case))
        .or_else(|| below_one_cycle(case))
        .or_else(|| rule_free_counts(evidence))
}

/// Nothing is handed over; but each context that the figure is divided by must have run, and the
/// figure must be possible.
fn once_each(case: &Case<'_>) -> Option<Reason> {
    let cycles = case.plan.batches + case.plan.warmup_batches;
    let expected = case.plan.variant.contexts.saturating_mul(cycles);
    let wrong = case.evidence.turns.as_ref().and_then(|turns| wrong_turns(case, turns, expected));
    wrong.or_else(|| case.transcript.samples.iter().find_map(|samples| wrong_part(case, samples)))
}

fn wrong_part(case: &Case<'_>, samples: &Samples) -> Option<Reason> {
    let (quantity, experiment) = (samples.quantity.as_deref().unwrap_or("ticks"), case.experiment());
    let known: Vec<&str> = experiment.page().reported().collect();
    if !known.contains(&quantity) {
        let known = known.into_iter().map(str::to_owned).collect();
        return Some(Reason::OtherQuantity {
            experiment: experiment.to_string(),
            quantity: quantity.to_owned(),
            known,
        });
    }
    if samples.units != case.plan.variant.contexts {
        let quantity = experiment.quantity.name.to_string();
        return Some(Reason::OtherContexts { quantity, claimed: samples.units, asked: case.plan.variant.contexts });
    }
    if experiment.quantity != Quantity::MEMORY {
        return None;
    }
    let &bytes = samples.ticks.iter().find(|bytes| bytes.unsigned_abs() as f64 > case.constants.address_space)?;
    Some(Reason::BeyondAddressSpace { quantity: quantity.to_owned(), bytes })
}

/// Units of all batches and histograms: what the driver claims by reporting them. A warm-up without
/// a histogram of its own is implied by the plan.
fn reported_units(case: &Case<'_>) -> u64 {
    let transcript = case.transcript;
    let first = case.experiment().page().parts.first();
    let samples = transcript.samples.iter().filter(|samples| samples.quantity.as_ref() == first);
    let batches = samples.map(|s| s.units.saturating_mul(s.ticks.len() as u64));
    let reported = batches.chain(transcript.histograms.iter().map(|h| h.units)).fold(0, u64::saturating_add);
    let silent_warmup = case.plan.variant.each_unit()
        && !transcript.histograms.iter().any(|histogram| histogram.phase == Phase::Warmup);
    let implied = if silent_warmup { case.echo.batch_units.saturating_mul(case.plan.warmup_batches) } else { 0 };
    reported.saturating_add(implied)
}

/// Whether the contexts' turns, if they were counted, are those that the units imply. Contexts that
/// live for one batch each run equally often.
pub(crate) fn turns_agree(experiment: Experiment, evidence: &Evidence) -> Option<bool> {
    let turns = evidence.turns.as_ref()?;
    Some(if experiment.in_one_batch() {
        turns.total > 0 && turns.min == turns.max
    } else {
        turns.total == evidence.units.saturating_mul(experiment.turns_per_unit)
    })
}

fn wrong_turns(case: &Case<'_>, turns: &Turns, expected: u64) -> Option<Reason> {
    if turns.total != expected {
        return Some(Reason::TurnsDiffer { turns: turns.total, claimed: expected });
    }
    let ring = case.experiment().ring;
    if ring && turns.contexts != case.echo.contexts {
        return Some(Reason::ContextsDiffer { took_part: turns.contexts, asked: case.echo.contexts });
    }
    let (lowest, highest) = (turns.contexts.saturating_mul(turns.min), turns.contexts.saturating_mul(turns.max));
    // Where contexts live for one batch, turns are counted over all batches, their extremes in one.
    let lasting = !case.experiment().in_one_batch();
    if turns.min > turns.max || lasting && !(lowest..=highest).contains(&turns.total) {
        let &Turns { total: turns, contexts, min, max, .. } = turns;
        return Some(Reason::TurnsCannotAdd { turns, contexts, min, max });
    }
    (ring && turns.max - turns.min > 1).then_some(Reason::NoRing { min: turns.min, max: turns.max })
}

pub(super) fn kernel_total(evidence: &Evidence) -> Option<f64> {
    evidence.kernel.as_ref().map(|kernel| kernel.voluntary as f64 + kernel.involuntary as f64)
}

/// What the edges may add. It grows with the ring, which the host chose, and never beyond
/// `helper_tasks` with a number that the probe supplies.
fn edge_allowance(case: &Case<'_>) -> f64 {
    let claimed = case.evidence.kernel.as_ref().map_or(0, |kernel| kernel.tasks);
    case.constants.edge_switches + 2.0 * (claimed.min(case.plan.variant.contexts) as f64 + helpers(case))
}

/// Tasks of the runtime beside its contexts, as far as they are granted.
fn helpers(case: &Case<'_>) -> f64 {
    let claimed = case.evidence.kernel.as_ref().map_or(0, |kernel| kernel.tasks);
    (claimed.saturating_sub(case.plan.variant.contexts) as f64).min(case.constants.helper_tasks)
}

/// What preemptions may have added to a count while the units of the evidence took place.
pub(super) fn preemption_allowance(case: &Case<'_>) -> f64 {
    case.constants.preemptions_per_second * measured_ns(case) / 1e9
}

/// Involuntary switches by others on the same CPUs, the runtime's own helpers among them: they grow
/// with time, however few units that has.
fn pushed_by_others(case: &Case<'_>) -> f64 {
    case.constants.pushed_per_second * measured_ns(case) / 1e9 + case.constants.helper_pushed * helpers(case)
}

/// Time of all batches, as far as the host can believe it: not longer than the probe lived.
pub(super) fn measured_ns(case: &Case<'_>) -> f64 {
    let claimed = claimed_ns(case);
    case.seen.and_then(|seen| seen.last_samples_ns).map_or(claimed, |lived| claimed.min(lived as f64))
}

/// Time of all batches as the probe tells it; where figures are not time, as long as it had lived
/// when they arrived.
pub(super) fn claimed_ns(case: &Case<'_>) -> f64 {
    let claimed_time = crate::series::claimed_ns(case.transcript).filter(|ns| *ns > 0.0 || case.experiment().timed());
    let lived = || if case.experiment().timed() { None } else { Some(case.seen?.last_samples_ns? as f64) };
    claimed_time.or_else(lived).unwrap_or(0.0)
}

fn wrong_kernel_switches(case: &Case<'_>) -> Option<Reason> {
    let ((low, high), kernel) = (case.rule.kernel_switches?, case.evidence.kernel.as_ref()?);
    let (units, edge) = (case.evidence.units as f64, edge_allowance(case));
    let observed = kernel_total(case.evidence)?;
    let least = low * units * (1.0 - case.constants.kernel_tolerance) - edge;
    let most = (high * (1.0 + case.constants.kernel_tolerance)).max(case.constants.kernel_tolerance) * units
        + edge
        + preemption_allowance(case);
    // Others on the same CPU take it away: that is involuntary, and disturbs instead of refuting.
    let foreign = (kernel.involuntary as f64).min(case.constants.foreign_share * units + pushed_by_others(case));
    let (too_few, too_many) = (observed < least, observed - foreign > most);
    (too_few || too_many).then(|| {
        let (units, limit) = (case.evidence.units, Some(if too_few { least } else { most + foreign }));
        let reason = Reason::KernelSwitches { counted: observed, units, least: low, most: high, limit };
        if too_few && case.plan.cpus.len() != 1 { reason.other_way() } else { reason }
    })
}

/// More kernel switches than the mechanism makes, yet too few to refute it: somebody else ran in
/// between.
pub(super) fn disturbed_by_others(case: &Case<'_>) -> Option<Disturbance> {
    if case.experiment().quantity.exact {
        return None; // Who else runs changes no count.
    }
    let ((_, high), observed) = (case.rule.kernel_switches?, kernel_total(case.evidence)?);
    let units = case.evidence.units as f64;
    let stray = observed - high * units;
    let allowed = (high.max(1.0) * case.constants.stray_share * units)
        .max(high * units * case.constants.kernel_tolerance / 2.0)
        + edge_allowance(case);
    let more = stray.round() as u64;
    (stray > allowed).then_some(Disturbance::ForeignSwitches { more, units: case.evidence.units })
}

fn wrong_address_spaces(case: &Case<'_>) -> Option<Reason> {
    let (wanted, claimed) = (case.rule.address_spaces?, case.evidence.address_spaces?);
    (claimed != wanted).then_some(Reason::AddressSpaces { claimed, needed: wanted })
}

fn wrong_cpus(case: &Case<'_>) -> Option<Reason> {
    let (seen, planned) = (case.evidence.cpus.as_ref()?, &case.plan.cpus);
    if planned.is_empty() {
        return None;
    }
    if let Some(&cpu) = seen.iter().find(|cpu| !planned.contains(cpu)) {
        return Some(Reason::OtherCpu { cpu, planned: planned.clone() });
    }
    let moves = case.evidence.migrations.filter(|&moves| planned.len() == 1 && moves > 0);
    if let Some(times) = moves {
        return Some(Reason::ChangedCpu { times, cpu: planned[0] });
    }
    let spread = case.is_ring() && case.plan.variant.contexts >= planned.len() as u64;
    let &cpu = planned.iter().find(|cpu| spread && !seen.contains(cpu))?;
    Some(Reason::UnusedCpu { cpu, planned: planned.clone() })
}

/// Contexts that have a CPU each take it from nobody and wait by blocking; those that share one
/// push each other aside. A context that is several tasks of the kernel, a sandbox with a kernel of
/// its own, pushes itself aside.
fn shared_cpu(case: &Case<'_>) -> Option<Reason> {
    let (kernel, planned) = (case.evidence.kernel.as_ref()?, case.plan.cpus.len() as u64);
    let alone = case.is_ring() && !case.rule.hops_hidden && planned > 1 && case.plan.variant.contexts <= planned;
    let pushed = kernel.involuntary as f64;
    let most = case.constants.pushed_share * case.evidence.units as f64 + edge_allowance(case) + pushed_by_others(case);
    (alone && pushed > most).then(|| Reason::SharedCpu { involuntary: pushed, most: Some(most) }.other_way())
}

fn wrong_hops(case: &Case<'_>, hops: &Hops) -> Option<Reason> {
    if hops.in_order != hops.count {
        return Some(Reason::OutOfOrder { in_order: hops.in_order, checked: hops.count });
    }
    if hops.same_cpu > hops.count || hops.same_thread.is_some_and(|same| same > hops.count) {
        return Some(Reason::MoreStayed { checked: hops.count });
    }
    if hops.timed && hops.count > case.evidence.units {
        return Some(Reason::MoreChecked { checked: hops.count, units: case.evidence.units });
    }
    let cpus = case.plan.cpus.len() as u64;
    if cpus == 1 && hops.same_cpu != hops.count {
        return Some(Reason::SwitchesChangedCpu { changed: hops.count - hops.same_cpu, checked: hops.count });
    }
    if cpus > 1 && case.plan.variant.contexts.is_multiple_of(cpus) && hops.same_cpu > 0 {
        return Some(Reason::SwitchesStayed { stayed: hops.same_cpu, checked: hops.count });
    }
    let (least, most) = case.rule.same_cpu_hops?;
    let share = hops.same_cpu as f64 / (hops.count.max(1)) as f64;
    (!(least..=most).contains(&share)).then_some(Reason::StayedShare { share, least, most })
}

fn wrong_counts(case: &Case<'_>) -> Option<Reason> {
    let units = case.evidence.units.max(1) as f64;
    // Of few units a share is coarse: what happens at the edges of batches is none of theirs.
    let batches = (case.plan.batches + case.plan.warmup_batches) as f64;
    let more = (preemption_allowance(case) + case.constants.edge_counts * batches) / units;
    case.rule.counts.iter().find_map(|(name, &(least, most))| {
        let observed = *case.evidence.counts.get(name)? as f64 / units;
        let lowest = least * (1.0 - case.constants.kernel_tolerance);
        let highest = most * (1.0 + case.constants.kernel_tolerance) + more;
        let limit = Some(if observed < lowest { lowest } else { highest });
        let inside = observed >= lowest && observed <= highest;
        (!inside).then(|| Reason::CountPerUnit { name: name.clone(), observed, least, most, limit })
    })
}

fn too_few(case: &Case<'_>) -> Option<Reason> {
    case.rule.at_least.iter().find_map(|(name, &needed)| {
        let &observed = case.evidence.counts.get(name).filter(|&&observed| observed < needed)?;
        Some(Reason::CountTooSmall { name: name.clone(), observed, needed })
    })
}

/// Who blocks too soon did not do what comes before. Switches at the edges of batches are granted.
fn too_few_a_block(case: &Case<'_>) -> Option<Reason> {
    let blocks = case.evidence.kernel.as_ref()?.voluntary as f64;
    let blocks = blocks * (1.0 - case.constants.kernel_tolerance) - edge_allowance(case);
    case.rule.per_block.iter().find_map(|(name, &each)| {
        let (&observed, needed) = (case.evidence.counts.get(name)?, (blocks * each as f64).floor() as i64);
        (observed < needed).then(|| Reason::CountTooSmall { name: name.clone(), observed, needed })
    })
}

/// CPU time of all rulers, at most: they lie outside the batches.
pub(super) fn rulers_ns(transcript: &Transcript, constants: &Constants) -> f64 {
    let with_rulers = transcript.samples.iter().filter(|samples| !samples.rulers.is_empty());
    with_rulers.map(|samples| samples.ticks.len() as f64 * constants.rulers_ns).sum()
}

/// CPU time that a probe counted of its contexts, by what its CPUs have in its batches.
pub(super) struct CpuShare {
    pub(super) share: f64,
    used: f64,
    claimed: f64,
    /// CPU time that is in no batch, at most, ns.
    beside: f64,
    cpus: f64,
}

impl CpuShare {
    /// The clock is slow, or work was left out of the batches: the share is at most this.
    pub(super) fn reason(&self, most_share: f64) -> Reason {
        let most = most_share * self.claimed * self.cpus + self.beside;
        let [claimed_ms, used_ms, most_ms] = [self.claimed, self.used, most].map(|ns| ns / 1e6);
        Reason::TimeMissing { claimed_ms, used_ms, most_ms: Some(most_ms) }
    }
}

/// Bytes that all contexts have of their own, beside what any has: what they touch between
/// switches, and what they hold.
pub(super) fn working_sets(variant: &Variant) -> f64 {
    let of = |name| variant.parameters.get(name).and_then(|value| value.parse::<f64>().ok()).unwrap_or(0.0);
    (of("working_set") + of("resident") * MIB) * variant.contexts as f64
}

const MIB: f64 = 1_048_576.0;

/// None of a model's clock, and where there is more than batches between the two readings of the
/// counter: units that live for one batch, times that are waited for, great rings.
pub(super) fn cpu_share(
    constants: &Constants,
    variant: &Variant,
    cpus: usize,
    transcript: &Transcript,
) -> Option<CpuShare> {
    let experiment = variant.experiment;
    let lasting = experiment.timed() && !experiment.paced && !experiment.difference && !experiment.in_one_batch();
    let real = transcript.hello.as_ref().is_some_and(|hello| !hello.clock.is_simulated());
    let used = *transcript.evidence.as_ref()?.counts.get("cpu_time_ns")? as f64;
    let claimed = crate::series::claimed_ns(transcript)?;
    let beside = constants.around_batches_ns
        + constants.around_context_ns * variant.contexts as f64
        + constants.release_ns * working_sets(variant)
        + rulers_ns(transcript, constants);
    let cpus = cpus as f64;
    let share = (used - beside) / (claimed * cpus);
    (lasting && real && variant.contexts as f64 <= constants.largest_judged).then_some(CpuShare {
        share,
        used,
        claimed,
        beside,
        cpus,
    })
}

/// The same of one start, with the tick by which a count may be behind.
fn slow_clock(case: &Case<'_>) -> Option<Reason> {
    let (plan, constants) = (case.plan, case.constants);
    let found =
        cpu_share(constants, &plan.variant, plan.cpus.len(), case.transcript).filter(|_| !plan.cpus.is_empty())?;
    let most = constants.missing_time + constants.missing_time_ns / (found.claimed * found.cpus);
    (found.share > most).then(|| found.reason(most))
}

/// One context of a ring runs at a time: tasks that burn more CPU time than the batches lasted do
/// not wait by blocking.
fn too_busy(case: &Case<'_>) -> Option<Reason> {
    let (most, used) = (case.rule.most_busy?, *case.evidence.counts.get("cpu_time_ns")? as f64);
    let claimed = claimed_ns(case).max(1.0);
    let around = case.constants.around_batches_ns + rulers_ns(case.transcript, case.constants);
    let (busy, limit) = (used / claimed, Some(most + around / claimed));
    // Of shorter batches a runtime's compiler and collector beside them are most of it.
    (claimed > around && used > most * claimed + around).then(|| Reason::TooBusy { busy, most, limit }.other_way())
}

/// A number that nothing can count below zero.
fn rule_free_counts(evidence: &Evidence) -> Option<Reason> {
    let (name, &count) = evidence.counts.iter().find(|(_, count)| **count < 0)?;
    Some(Reason::NegativeCount { name: name.clone(), count })
}

/// A single batch faster than any CPU can be, though the median is not: the clock did not run. Its
/// resolution of a tick is granted at both ends.
fn stood_still(case: &Case<'_>) -> Option<Reason> {
    let tick_ns = 1e9 / case.transcript.hello.as_ref()?.clock.ticks_per_second as f64;
    let timed = case.transcript.samples.iter().filter(|samples| samples.quantity.is_none());
    let mut batches = timed.flat_map(|samples| samples.ticks.iter().map(|&ticks| (samples.units, ticks)));
    let least = |units: u64| case.constants.implausible_ns * units as f64 / tick_ns - 2.0;
    let stands = |&(units, ticks): &(u64, i64)| (ticks as f64) < least(units) && !nothing_left(case, ticks as f64);
    let (units, ticks) = batches.find(stands)?;
    Some(Reason::ClockStoodStill { units, ticks, limit: Some(least(units)) })
}

fn below_one_cycle(case: &Case<'_>) -> Option<Reason> {
    let least_ns = case.constants.implausible_ns;
    let ns = timed_median(case).filter(|ns| *ns < least_ns && !nothing_left(case, *ns))?;
    Some(Reason::BelowOneCycle { ns, least_ns: Some(least_ns) })
}

/// A difference of which the scatter of both sides leaves nothing: a probe tells none below zero.
pub(super) fn nothing_left(case: &Case<'_>, figure: f64) -> bool {
    case.experiment().difference && figure <= 0.0
}

/// Batches that are too short beside other starts. A machine may change its pace between two, so
/// that all that was counted in this one is heard before.
pub(super) fn too_short(case: &Case<'_>) -> Option<Reason> {
    let ns = timed_median(case)?;
    if let Some(Content { of, least_ns }) = case.bound.content.clone().filter(|content| ns < content.least_ns) {
        return Some(Reason::BelowContent { ns, of, least_ns });
    }
    let Constants { least_bounds: times, speaking_starts, .. } = *case.constants;
    let near = near_control(case).filter(|(_, _, _, starts)| *starts as f64 >= speaking_starts);
    let below = near.map(|(ns, control, control_ns, _)| Reason::BelowControl { ns, times, control, control_ns });
    below.or_else(|| stood_still(case))
}

pub(super) fn timed_median(case: &Case<'_>) -> Option<f64> {
    let by_unit = case.experiment().timed() && !case.experiment().in_one_batch();
    switchcost_stats::median(&crate::series::values(case.transcript)).filter(|_| by_unit)
}

/// Figure, control, its fastest batch and its starts, where the figure is too near to what a loop
/// without switches costs.
pub(super) fn near_control(case: &Case<'_>) -> Option<(f64, String, f64, usize)> {
    let Bound::Measured { mechanism, ns, starts } = &case.bound.control else { return None };
    let median = timed_median(case).filter(|_| case.experiment().bounded())?;
    (median < case.constants.least_bounds * ns).then(|| (median, mechanism.clone(), *ns, *starts))
}

/// Clocks whose rate is known, ticks per second: by their definition.
const KNOWN_CLOCKS: [(&str, u64); 2] = [("CLOCK_MONOTONIC", 1_000_000_000), ("CLOCK_UPTIME_RAW", 1_000_000_000)];

/// A clock that everybody knows runs as everybody knows.
pub(super) fn wrong_rate(transcript: &Transcript) -> Option<Reason> {
    let clock = &transcript.hello.as_ref()?.clock;
    let (_, known) = KNOWN_CLOCKS.into_iter().find(|(name, _)| *name == clock.name)?;
    (clock.ticks_per_second != known).then_some(Reason::ClockRate { claimed: clock.ticks_per_second, known })
}
