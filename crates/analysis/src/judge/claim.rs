//! The probe's evidence against its own claim and the mechanism's rule.

use super::{Bound, Case};
use switchcost_model::{Disturbance, Evidence, Experiment, Hops, Phase, Quantity, Samples, Turns};

/// Kernel switches may differ from the rule by this share (counters are read while tasks fall asleep, timer interrupts preempt).
pub(crate) const KERNEL_TOLERANCE: f64 = 0.02;

/// Where a rule allows no kernel switch, more than this share of the units means that something else ran in between.
const STRAY_SHARE: f64 = 0.001;

/// Kernel switches at the edges of the measurement that belong to no unit, beside two per context.
const EDGE_SWITCHES: f64 = 10.0;

/// Tasks of a runtime beside its contexts that may add switches at the edges: collectors, compilers, timers.
const HELPER_TASKS: u64 = 64;

/// Times a second that somebody else may get the CPU in between. It matters for units of milliseconds (large working sets), of which a
/// single preemption is more than [`KERNEL_TOLERANCE`]; a scheduler's slice is longer than a millisecond.
const PREEMPTIONS_PER_SECOND: f64 = 1000.0;

/// Up to so many involuntary switches per unit beyond the rule are the work of others on the same CPU: they disturb the figure and say nothing
/// of the mechanism. A mechanism whose own switches were hidden among them would have one in every unit.
const FOREIGN_SHARE: f64 = 0.5;

/// Times that a runtime's helper is pushed aside around the batches, by the contexts or by others: a compiler works while the counters are read.
const HELPER_PUSHED: f64 = 8.0;

/// Share of units in which a context that has a CPU of its own is pushed aside, at most; of two that share one it is about half.
const PUSHED_SHARE: f64 = 0.25;

/// No CPU hands anything over in less than this; a faster claim was optimised away or miscounted. Half a cycle at 5 GHz.
const IMPLAUSIBLE_NS: f64 = 0.1;

/// A switch is at least one jump more than the loop that drives it, and a CPU takes one such jump per cycle: less than so many times the empty
/// loop of the same run is not a switch.
const LEAST_BOUNDS: f64 = 1.5;

/// CPU time between the two readings that no batch holds: the first wake-up of each context, the clock of each batch, code that an emulator
/// translates on the way. Beside batches of a run it is nothing; three of 20 µs took 46 µs more under an emulated processor.
const AROUND_BATCHES_NS: f64 = 1e6;

/// CPU time of the rulers beside a batch, at most: the kernel's code must be fetched anew for them.
const RULERS_NS: f64 = 10e3;

/// Kind of the disturbance that the judge itself finds.
pub(super) const FOREIGN_SWITCHES: &str = "foreign_switches";

/// Begins the reason of a start in which the mechanism, honestly told, went another way than its row names: between two CPUs a partner may answer
/// before the sender has blocked, hop after hop, and a scheduler may put both on one of them.
pub(crate) const OTHER_WAY: &str = "other than the row names: ";

/// Bytes that an address space of today's processors spans: more cannot be memory.
const ADDRESS_SPACE: u64 = 1 << 57;

pub(super) fn contradiction(case: &Case<'_>) -> Option<String> {
    let (evidence, experiment) = (case.evidence, case.experiment());
    if experiment.in_one_batch() {
        return once_each(case);
    }
    let reported = reported_units(case);
    if evidence.units != reported {
        return Some(format!("the evidence covers {} units, the batches report {reported}", evidence.units));
    }
    let expected = evidence.units.saturating_mul(experiment.turns_per_unit);
    evidence
        .turns
        .as_ref()
        .and_then(|turns| wrong_turns(case, turns, expected))
        .or_else(|| {
            let token = evidence.token.filter(|&token| token != expected)?;
            Some(format!("the token advanced by {token} where {expected} switches were claimed"))
        })
        .or_else(|| wrong_kernel_switches(case))
        .or_else(|| wrong_address_spaces(case))
        .or_else(|| wrong_cpus(case))
        .or_else(|| shared_cpu(case))
        .or_else(|| evidence.hops.as_ref().and_then(|hops| wrong_hops(case, hops)))
        .or_else(|| wrong_counts(case))
        .or_else(|| too_few(case))
        .or_else(|| too_busy(case))
        .or_else(|| implausible(case))
        .or_else(|| stood_still(case))
        .or_else(|| rule_free_counts(evidence))
}

/// Nothing is handed over; but each context that the figure is divided by must have run, and the figure must be possible.
fn once_each(case: &Case<'_>) -> Option<String> {
    let cycles = case.plan.batches + case.plan.warmup_batches;
    let expected = case.plan.variant.contexts.saturating_mul(cycles);
    let wrong = case.evidence.turns.as_ref().and_then(|turns| wrong_turns(case, turns, expected));
    wrong.or_else(|| case.transcript.samples.iter().find_map(|samples| wrong_part(case, samples)))
}

fn wrong_part(case: &Case<'_>, samples: &Samples) -> Option<String> {
    let (quantity, experiment) = (samples.quantity.as_deref().unwrap_or("ticks"), case.experiment());
    let known: Vec<&str> = experiment.page().reported().collect();
    if !known.contains(&quantity) {
        return Some(format!("a {experiment} was claimed in {quantity}; expected one of {}", known.join(", ")));
    }
    if samples.units != case.plan.variant.contexts {
        return Some(format!(
            "{} of {} contexts was claimed where {} were asked",
            experiment.quantity.name, samples.units, case.plan.variant.contexts
        ));
    }
    if experiment.quantity != Quantity::MEMORY {
        return None;
    }
    let bytes = samples.ticks.iter().find(|bytes| bytes.unsigned_abs() > ADDRESS_SPACE)?;
    Some(format!("{bytes} {quantity} are more than an address space holds"))
}

/// Units of all batches and histograms: what the driver claims by reporting them. A warm-up without a histogram of its own is implied by
/// the plan.
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

/// Whether the contexts' turns, if they were counted, are those that the units imply. Contexts that live for one batch each run
/// equally often.
pub(crate) fn turns_agree(experiment: Experiment, evidence: &Evidence) -> Option<bool> {
    let turns = evidence.turns.as_ref()?;
    Some(if experiment.in_one_batch() {
        turns.total > 0 && turns.min == turns.max
    } else {
        turns.total == evidence.units.saturating_mul(experiment.turns_per_unit)
    })
}

fn wrong_turns(case: &Case<'_>, turns: &Turns, expected: u64) -> Option<String> {
    if turns.total != expected {
        return Some(format!("the contexts counted {} turns where {expected} were claimed", turns.total));
    }
    let ring = case.experiment().ring;
    if ring && turns.contexts != case.echo.contexts {
        return Some(format!("{} contexts took part where {} were asked", turns.contexts, case.echo.contexts));
    }
    let (lowest, highest) = (turns.contexts.saturating_mul(turns.min), turns.contexts.saturating_mul(turns.max));
    // Where contexts live for one batch, turns are counted over all batches, their extremes in one.
    let lasting = !case.experiment().in_one_batch();
    if turns.min > turns.max || lasting && !(lowest..=highest).contains(&turns.total) {
        return Some(format!(
            "{} turns cannot be the sum of {} contexts with {} to {} each",
            turns.total, turns.contexts, turns.min, turns.max
        ));
    }
    (ring && turns.max - turns.min > 1)
        .then(|| format!("one context had {} turns, another {}: no ring was passed round", turns.max, turns.min))
}

pub(super) fn kernel_total(evidence: &Evidence) -> Option<f64> {
    evidence.kernel.as_ref().map(|kernel| kernel.voluntary as f64 + kernel.involuntary as f64)
}

/// What the edges may add. It grows with the ring, which the host chose, and never beyond [`HELPER_TASKS`] with a number that the probe supplies.
fn edge_allowance(case: &Case<'_>) -> f64 {
    let claimed = case.evidence.kernel.as_ref().map_or(0, |kernel| kernel.tasks);
    EDGE_SWITCHES + 2.0 * (claimed.min(case.plan.variant.contexts) as f64 + helpers(case))
}

/// Tasks of the runtime beside its contexts, as far as they are granted.
fn helpers(case: &Case<'_>) -> f64 {
    let claimed = case.evidence.kernel.as_ref().map_or(0, |kernel| kernel.tasks);
    claimed.saturating_sub(case.plan.variant.contexts).min(HELPER_TASKS) as f64
}

/// What preemptions may have added to a count while the units of the evidence took place.
pub(super) fn preemption_allowance(case: &Case<'_>) -> f64 {
    PREEMPTIONS_PER_SECOND * measured_ns(case) / 1e9
}

/// Time of all batches, as far as the host can believe it: not longer than the probe lived.
pub(super) fn measured_ns(case: &Case<'_>) -> f64 {
    let claimed = claimed_ns(case);
    case.seen.and_then(|seen| seen.last_samples_ns).map_or(claimed, |lived| claimed.min(lived as f64))
}

/// Time of all batches as the probe tells it; where figures are not time, as long as it had lived when they arrived.
pub(super) fn claimed_ns(case: &Case<'_>) -> f64 {
    let told = crate::series::claimed_ns(case.transcript).filter(|ns| *ns > 0.0 || case.experiment().timed());
    let lived = || if case.experiment().timed() { None } else { Some(case.seen?.last_samples_ns? as f64) };
    told.or_else(lived).unwrap_or(0.0)
}

fn wrong_kernel_switches(case: &Case<'_>) -> Option<String> {
    let ((low, high), kernel) = (case.rule.kernel_switches?, case.evidence.kernel.as_ref()?);
    let (units, edge) = (case.evidence.units as f64, edge_allowance(case));
    let observed = kernel_total(case.evidence)?;
    let too_few = observed < low * units * (1.0 - KERNEL_TOLERANCE) - edge;
    let most = (high * (1.0 + KERNEL_TOLERANCE)).max(KERNEL_TOLERANCE) * units + edge + preemption_allowance(case);
    // Others on the same CPU take it away: that is involuntary, and disturbs instead of refuting.
    let foreign = (kernel.involuntary as f64).min(FOREIGN_SHARE * units + HELPER_PUSHED * helpers(case));
    let too_many = observed - foreign > most;
    (too_few || too_many).then(|| {
        let expected = if (high - low).abs() < f64::EPSILON { format!("{low}") } else { format!("{low} to {high}") };
        let kind = if too_few && case.plan.cpus.len() != 1 { OTHER_WAY } else { "" };
        format!(
            "{kind}the kernel counted {observed} switches for {units} claimed ({:.3} each) where the mechanism makes {expected}",
            observed / units
        )
    })
}

/// More kernel switches than the mechanism makes, yet too few to refute it: somebody else ran in between.
pub(super) fn disturbed_by_others(case: &Case<'_>) -> Option<Disturbance> {
    let ((_, high), observed) = (case.rule.kernel_switches?, kernel_total(case.evidence)?);
    let units = case.evidence.units as f64;
    let stray = observed - high * units;
    let allowed =
        (high.max(1.0) * STRAY_SHARE * units).max(high * units * KERNEL_TOLERANCE / 2.0) + edge_allowance(case);
    (stray > allowed).then(|| Disturbance {
        kind: FOREIGN_SWITCHES.into(),
        detail: format!("{stray:.0} kernel switches more than the mechanism makes in {units:.0} units"),
    })
}

fn wrong_address_spaces(case: &Case<'_>) -> Option<String> {
    let (wanted, claimed) = (case.rule.address_spaces?, case.evidence.address_spaces?);
    (claimed != wanted).then(|| format!("{claimed} address spaces where the mechanism has {wanted}"))
}

fn wrong_cpus(case: &Case<'_>) -> Option<String> {
    let (seen, planned) = (case.evidence.cpus.as_ref()?, &case.plan.cpus);
    if planned.is_empty() {
        return None;
    }
    if let Some(stranger) = seen.iter().find(|cpu| !planned.contains(cpu)) {
        return Some(format!("a context ran on CPU {stranger} where {planned:?} was planned"));
    }
    let moves = case.evidence.migrations.filter(|&moves| planned.len() == 1 && moves > 0);
    if let Some(moves) = moves {
        return Some(format!("contexts changed the CPU {moves} times where only CPU {} was planned", planned[0]));
    }
    let spread = case.is_ring() && case.plan.variant.contexts >= planned.len() as u64;
    let unused = planned.iter().find(|cpu| spread && !seen.contains(cpu))?;
    Some(format!("no context ran on CPU {unused} where {planned:?} were planned"))
}

/// Contexts that have a CPU each take it from nobody and wait by blocking; those that share one push each other aside. A context that is several tasks
/// of the kernel, a sandbox with a kernel of its own, pushes itself aside.
fn shared_cpu(case: &Case<'_>) -> Option<String> {
    let (kernel, planned) = (case.evidence.kernel.as_ref()?, case.plan.cpus.len() as u64);
    let alone = case.is_ring() && !case.rule.hops_hidden && planned > 1 && case.plan.variant.contexts <= planned;
    let pushed = kernel.involuntary as f64;
    let most = PUSHED_SHARE * case.evidence.units as f64 + edge_allowance(case) + preemption_allowance(case);
    (alone && pushed > most).then(|| {
        format!("{OTHER_WAY}{pushed:.0} kernel switches were involuntary: contexts shared a CPU where each should have its own")
    })
}

fn wrong_hops(case: &Case<'_>, hops: &Hops) -> Option<String> {
    if hops.in_order != hops.count {
        return Some(format!("only {} of {} switches went to the next context of the ring", hops.in_order, hops.count));
    }
    if hops.same_cpu > hops.count || hops.same_thread.is_some_and(|same| same > hops.count) {
        return Some(format!("more switches stayed on one CPU or thread than there were ({})", hops.count));
    }
    if hops.timed && hops.count > case.evidence.units {
        return Some(format!("the order of {} switches was checked in {} units", hops.count, case.evidence.units));
    }
    let cpus = case.plan.cpus.len() as u64;
    if cpus == 1 && hops.same_cpu != hops.count {
        return Some(format!(
            "{} of {} switches changed the CPU where one was planned",
            hops.count - hops.same_cpu,
            hops.count
        ));
    }
    if cpus > 1 && case.plan.variant.contexts.is_multiple_of(cpus) && hops.same_cpu > 0 {
        return Some(format!(
            "{} of {} switches stayed on one CPU where each should change it",
            hops.same_cpu, hops.count
        ));
    }
    let (low, high) = case.rule.same_cpu_hops?;
    let share = hops.same_cpu as f64 / (hops.count.max(1)) as f64;
    (!(low..=high).contains(&share))
        .then(|| format!("{:.1} % of switches stayed on one CPU where {low} to {high} was expected", share * 100.0))
}

fn wrong_counts(case: &Case<'_>) -> Option<String> {
    let units = case.evidence.units.max(1) as f64;
    let more = preemption_allowance(case) / units;
    case.rule.counts.iter().find_map(|(name, &(low, high))| {
        let observed = *case.evidence.counts.get(name)? as f64 / units;
        let inside = observed >= low * (1.0 - KERNEL_TOLERANCE) && observed <= high * (1.0 + KERNEL_TOLERANCE) + more;
        (!inside).then(|| format!("{name}: {observed:.3} per unit where {low} to {high} was expected"))
    })
}

fn too_few(case: &Case<'_>) -> Option<String> {
    case.rule.at_least.iter().find_map(|(name, &least)| {
        let observed = case.evidence.counts.get(name).filter(|&&observed| observed < least)?;
        Some(format!("{name} is {observed} where the mechanism needs {least}"))
    })
}

/// CPU time of all rulers, at most: they lie outside the batches.
pub(super) fn rulers_ns(case: &Case<'_>) -> f64 {
    let with_rulers = case.transcript.samples.iter().filter(|samples| !samples.rulers.is_empty());
    with_rulers.map(|samples| samples.ticks.len() as f64 * RULERS_NS).sum()
}

/// One context of a ring runs at a time: tasks that burn more CPU time than the batches lasted do not wait by blocking.
fn too_busy(case: &Case<'_>) -> Option<String> {
    let (most, used) = (case.rule.most_busy?, *case.evidence.counts.get("cpu_time_ns")? as f64);
    let claimed = claimed_ns(case).max(1.0);
    let busy = used / claimed;
    (used > most * claimed + AROUND_BATCHES_NS + rulers_ns(case)).then(|| {
        format!("{OTHER_WAY}the contexts kept {busy:.2} CPUs busy where at most {most} can be if those that wait block")
    })
}

/// A number that nothing can count below zero.
fn rule_free_counts(evidence: &Evidence) -> Option<String> {
    let (name, count) = evidence.counts.iter().find(|(_, count)| **count < 0)?;
    Some(format!("{name} is {count}; a count cannot be negative"))
}

/// A single batch faster than any CPU can be, though the median is not: the clock did not run. Its resolution of a tick is granted at both ends.
fn stood_still(case: &Case<'_>) -> Option<String> {
    let tick_ns = 1e9 / case.transcript.hello.as_ref()?.clock.ticks_per_second as f64;
    let timed = case.transcript.samples.iter().filter(|samples| samples.quantity.is_none());
    let mut batches = timed.flat_map(|samples| samples.ticks.iter().map(|&ticks| (samples.units, ticks)));
    let (units, ticks) =
        batches.find(|&(units, ticks)| (ticks as f64 + 2.0) * tick_ns < IMPLAUSIBLE_NS * units as f64)?;
    Some(format!("a batch of {units} units took {ticks} ticks: the clock stood still"))
}

fn implausible(case: &Case<'_>) -> Option<String> {
    if !case.experiment().timed() {
        return None;
    }
    let values = crate::series::values(case.transcript);
    let median = switchcost_stats::median(&values)?;
    if median < IMPLAUSIBLE_NS {
        return Some(format!(
            "{median:.4} ns per unit is less than one clock cycle: the work was optimised away or miscounted"
        ));
    }
    let Bound::Measured { mechanism, ns } = case.bound else { return None };
    (case.experiment().bounded() && median < LEAST_BOUNDS * ns).then(|| {
        format!(
            "{median:.3} ns per unit is less than {LEAST_BOUNDS} times {mechanism} in the same run ({ns:.3} ns), which does not switch: the work was optimised away or miscounted"
        )
    })
}
