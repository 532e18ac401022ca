//! Set-up, calibration, batches, report: one run from the plan to `end`.

use crate::clock::{now, read_counter, COUNTER_NAME};
use crate::evidence::{Observed, Trace, Turns};
use crate::footprint::{self, Population};
use crate::histogram::Histogram;
use crate::os::{allowed_cpus, current_cpu};
use crate::plan::{Parameter, Plan, Refusal, MOST_UNITS};
use crate::wire::{Evidence, Writer};
use crate::working_set::WorkingSets;
use std::collections::{BTreeMap, BTreeSet};
use std::io;

/// What most mechanisms can do.
pub const ALL_TIMINGS: &[&str] = &["batch", "each"];

/// One line of `describe`.
#[derive(Debug)]
pub struct Mechanism {
    /// `family/name`.
    pub id: &'static str,
    /// What the probe can measure of it.
    pub experiments: &'static [&'static str],
    /// What can be varied.
    pub parameters: &'static [Parameter],
    /// In batches, unit by unit.
    pub timings: &'static [&'static str],
    /// Its contexts have threads of their own, which `set_up` moves to the CPUs of the plan one by one.
    pub pins: bool,
    /// Why it cannot run on this machine at all; quick, because `describe` asks.
    pub unavailable: fn() -> Option<Refusal>,
    /// Everything slow. May answer that the plan cannot be carried out.
    pub set_up: fn(&Plan) -> Result<Box<dyn Workload>, Refusal>,
    /// The same for experiment footprint, where the mechanism has it.
    pub hold: Option<Hold>,
}

/// Makes what holds the contexts of experiment footprint.
pub type Hold = fn(&Plan) -> Result<Box<dyn Population>, Refusal>;

/// A mechanism that is ready to run.
pub trait Workload {
    /// Smallest number of units after which everything stands where it began; also the length of the ring.
    fn lap(&self) -> u64;

    /// The measured region: `units` units between two readings of the clock by context 0; returns the ticks between.
    /// No allocation beyond the mechanism's, no branch on the plan.
    fn run(&mut self, units: u64) -> u64;

    /// The same with every unit recorded.
    fn run_each(&mut self, units: u64, histogram: Box<Histogram>) -> (u64, Box<Histogram>);

    /// Sets the counts of turns to zero.
    fn reset(&mut self);

    /// What the contexts counted since.
    fn claim(&mut self) -> Claim;

    /// Passes the token `units` times and records each visit. None where the experiment has no ring.
    fn verify(&mut self, units: u64, trace: Box<Trace>) -> Option<Box<Trace>>;

    /// Why the last batch came to nothing, if it did. A workload with a fault answers every further call at once.
    fn fault(&self) -> Option<Refusal> {
        None
    }

    /// What belongs beside the result.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}

/// What the contexts counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// Turns of each; None where a unit is not a switch between contexts, then `why` says so.
    pub turns: Option<Turns>,
    /// Advance of the token.
    pub token: Option<u64>,
    /// A context saw another token than the one it was due.
    pub broken: bool,
    /// Distinct address spaces among the contexts; None where this side cannot know, then `why` says so.
    pub address_spaces: Option<u64>,
    /// Whatever else the mechanism's rule asks for.
    pub counts: BTreeMap<&'static str, i64>,
    /// Reasons of what is missing above.
    pub why: BTreeMap<&'static str, &'static str>,
}

impl Claim {
    /// Of contexts that have counted their turns into this process's own memory, which nothing of another address space can reach.
    #[must_use]
    pub fn new(turns: Turns, token: u64, broken: bool) -> Self {
        let (counts, why) = (BTreeMap::new(), BTreeMap::new());
        Self { turns: Some(turns), token: Some(token), broken, address_spaces: Some(1), counts, why }
    }

    /// The same with the touches of working sets, where there are any.
    #[must_use]
    pub fn with_touches(mut self, sets: Option<&WorkingSets>) -> Self {
        self.counts.extend(sets.map(|sets| ("touches", sets.touches())));
        self
    }
}

/// Carries out the plan and reports everything but `hello`. The inner error is the host that no longer listens.
pub fn measure(writer: &mut Writer, plan: &Plan, mechanism: &Mechanism) -> io::Result<Result<(), Refusal>> {
    if let Some(refusal) = (mechanism.unavailable)() {
        return Ok(Err(refusal));
    }
    if let Err(refusal) = check_placement(plan, mechanism) {
        return Ok(Err(refusal));
    }
    if let Some(hold) = mechanism.hold.filter(|_| plan.experiment == "footprint") {
        return hold_and_measure(writer, plan, hold);
    }
    let mut workload = match (mechanism.set_up)(plan) {
        Ok(workload) => workload,
        Err(refusal) => return Ok(Err(refusal)),
    };
    for note in workload.notes() {
        writer.note(&note)?;
    }
    let outcome = measure_with(writer, plan, workload.as_mut());
    // The process ends now. Dropping a ring would unwind every suspended coroutine one by one, to no one's use.
    std::mem::forget(workload);
    outcome
}

fn hold_and_measure(writer: &mut Writer, plan: &Plan, hold: Hold) -> io::Result<Result<(), Refusal>> {
    let mut population = match hold(plan) {
        Ok(population) => population,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let outcome = footprint::measure(writer, plan, population.as_mut());
    // As above.
    std::mem::forget(population);
    outcome
}

fn measure_with(writer: &mut Writer, plan: &Plan, workload: &mut dyn Workload) -> io::Result<Result<(), Refusal>> {
    let units = match calibrate(plan, workload) {
        Ok(units) => units,
        Err(refusal) => return Ok(Err(refusal)),
    };
    writer.plan(plan, units)?;
    let mut records = Records::new(plan);

    workload.reset();
    let begin = Observed::begin();
    records.batches(workload, units, plan.warmup_batches as usize);
    let end = Observed::end();
    let claim = workload.claim();
    if let Some(fault) = workload.fault() {
        return Ok(Err(fault));
    }
    if claim.broken {
        let detail = "a context received another token than the one it was due";
        return Ok(Err(Refusal::failed("self_check_failed", detail)));
    }
    if let Some(refusal) = records.backwards() {
        return Ok(Err(refusal));
    }

    let samples = records.report(writer, units, plan.warmup_batches as usize)?;
    let mut why = claim.why;
    let kernel = end.kernel_since(&begin).map_err(|reason| why.insert("kernel", reason)).ok();
    let mut counts = claim.counts;
    counts.extend(end.cpu_ns_since(&begin).map(|ns| ("cpu_time_ns", ns)));
    let mut cpus: BTreeSet<u32> = records.cpus.iter().copied().flatten().collect();
    let verified = verify(plan, workload, &mut cpus, &mut why);
    if let Some(fault) = workload.fault() {
        return Ok(Err(fault));
    }
    let (hops, migrations) = verified.unzip();
    let units = (plan.warmup_batches + plan.batches) * units;
    let page_faults = end.faults_since(&begin);
    writer.evidence(&Evidence {
        units,
        turns: claim.turns,
        token: claim.token,
        kernel,
        address_spaces: claim.address_spaces,
        cpus,
        migrations,
        hops,
        page_faults,
        counts,
        why,
    })?;
    writer.end_ok(samples)?;
    Ok(Ok(()))
}

/// Pinning the process is the host's duty; a plan that says one CPU while the process may run on others would be
/// believed. Contexts that share threads cannot be pinned one by one.
fn check_placement(plan: &Plan, mechanism: &Mechanism) -> Result<(), Refusal> {
    if plan.timing == "each" && COUNTER_NAME.is_none() {
        let detail = format!(
            "timing=each needs a cycle counter, and this probe knows none of {}; use timing=batch",
            std::env::consts::ARCH
        );
        return Err(Refusal::unsupported("unsupported_here", detail));
    }
    if plan.cpus.len() > 1 && mechanism.pins {
        let allowed = allowed_cpus().unwrap_or_default();
        let Some(cpu) = plan.cpus.iter().find(|cpu| !allowed.contains(cpu)) else { return Ok(()) };
        let detail = format!("the plan says CPU {cpu}, on which the process may not run; it may run on {allowed:?}");
        return Err(Refusal::failed("set_up_failed", detail));
    }
    if plan.cpus.len() > 1 {
        return Err(Refusal::refused(
            "bad_value",
            "contexts of this mechanism cannot be pinned one by one; give one CPU or none in `cpus`",
        ));
    }
    match (plan.cpus.first(), allowed_cpus()) {
        (Some(&cpu), Some(allowed)) if allowed != [cpu] => {
            let detail = format!(
                "the plan says CPU {cpu}, but the process is not restricted to it; start it with taskset -c {cpu}"
            );
            Err(Refusal::failed("set_up_failed", detail))
        }
        _ => Ok(()),
    }
}

/// Rounds what was asked up to whole laps, or doubles by the rule of PROTOCOL.md, section 1.
fn calibrate(plan: &Plan, workload: &mut dyn Workload) -> Result<u64, Refusal> {
    let lap = workload.lap();
    if plan.batch_units > 0 {
        return Ok(plan.batch_units.div_ceil(lap) * lap);
    }
    let mut histogram = (plan.timing == "each").then(Histogram::new);
    let (mut units, mut long_enough) = (lap, 0);
    while long_enough < 3 {
        let ticks = batch(workload, units, &mut histogram);
        if let Some(fault) = workload.fault() {
            return Err(fault);
        }
        if ticks >= plan.batch_ns {
            long_enough += 1;
        } else if 2 * units > MOST_UNITS {
            let detail = format!("{units} units last less than batch_ns={}; ask for a smaller batch_ns", plan.batch_ns);
            return Err(Refusal::unsupported("limit_reached", detail));
        } else {
            (units, long_enough) = (2 * units, 0);
        }
    }
    Ok(units)
}

fn batch(workload: &mut dyn Workload, units: u64, histogram: &mut Option<Box<Histogram>>) -> u64 {
    match histogram.take() {
        None => workload.run(units),
        Some(recorder) => {
            let (ticks, recorder) = workload.run_each(units, recorder);
            *histogram = Some(recorder);
            ticks
        }
    }
}

/// All that the batches write to, made and touched before them.
struct Records {
    ticks: Vec<u64>,
    cpus: Vec<Option<u32>>,
    warmup: Option<Box<Histogram>>,
    measure: Option<Box<Histogram>>,
}

impl Records {
    fn new(plan: &Plan) -> Self {
        let each = plan.timing == "each";
        let batches = (plan.warmup_batches + plan.batches) as usize;
        Self {
            ticks: vec![u64::MAX; batches],
            cpus: vec![Some(u32::MAX); batches],
            warmup: each.then(Histogram::new),
            measure: each.then(Histogram::new),
        }
    }

    /// The silence of PROTOCOL.md: no writing, no allocation, no floating point.
    fn batches(&mut self, workload: &mut dyn Workload, units: u64, warmup: usize) {
        let (warmup_ticks, measure_ticks) = self.ticks.split_at_mut(warmup);
        let (warmup_cpus, measure_cpus) = self.cpus.split_at_mut(warmup);
        phase(workload, units, warmup_ticks, warmup_cpus, &mut self.warmup);
        phase(workload, units, measure_ticks, measure_cpus, &mut self.measure);
    }

    /// Intervals that ended before they began must not be taken for short ones.
    fn backwards(&self) -> Option<Refusal> {
        let backwards: u64 = [&self.warmup, &self.measure].into_iter().flatten().map(|h| h.backwards).sum();
        (backwards > 0).then(|| {
            let detail = format!(
                "{backwards} intervals of the cycle counter were negative: the counters of the CPUs are out of step; use timing=batch"
            );
            Refusal::failed("self_check_failed", detail)
        })
    }

    fn report(&self, writer: &mut Writer, units: u64, warmup: usize) -> io::Result<u64> {
        if let (Some(warmup), Some(measure)) = (&self.warmup, &self.measure) {
            writer.histogram("warmup", warmup)?;
            writer.histogram("measure", measure)?;
            return Ok(warmup.count + measure.count);
        }
        let ticks: Vec<i64> = self.ticks.iter().map(|&ticks| ticks as i64).collect();
        writer.samples("warmup", units, &ticks[..warmup], None)?;
        writer.samples("measure", units, &ticks[warmup..], None)?;
        Ok(ticks.len() as u64)
    }
}

fn phase(
    workload: &mut dyn Workload,
    units: u64,
    ticks: &mut [u64],
    cpus: &mut [Option<u32>],
    histogram: &mut Option<Box<Histogram>>,
) {
    let counter = histogram.as_ref().map_or(0, |_| read_counter());
    let clock = now();
    for (tick, cpu) in ticks.iter_mut().zip(cpus) {
        *tick = batch(workload, units, histogram);
        *cpu = current_cpu();
    }
    if let Some(histogram) = histogram {
        histogram.span_clock = now() - clock;
        histogram.span_counter = read_counter() - counter;
    }
}

fn verify(
    plan: &Plan,
    workload: &mut dyn Workload,
    cpus: &mut BTreeSet<u32>,
    why: &mut BTreeMap<&'static str, &'static str>,
) -> Option<(crate::evidence::Hops, u64)> {
    if plan.verify_units == 0 {
        return None;
    }
    let lap = workload.lap();
    let units = plan.verify_units.div_ceil(lap) * lap;
    let trace = workload.verify(units, Trace::new(units))?;
    let judged = trace.judge(lap, cpus);
    if judged.is_none() {
        for field in ["hops", "migrations"] {
            why.insert(field, "a thread cannot tell on which CPU it runs on this system");
        }
    }
    if judged.as_ref().is_some_and(|(hops, _)| hops.same_thread.is_none()) {
        why.insert("hops_same_thread", "a thread cannot tell its number on this system");
    }
    judged
}

#[cfg(test)]
mod tests;
