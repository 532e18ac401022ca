//! Set-up, calibration, batches, report: one run from the plan to `end`.

use crate::clock::{now, read_counter, COUNTER_NAME};
use crate::evidence::{Hops, Observed, Trace};
use crate::histogram::Histogram;
use crate::mechanism::{Claim, Mechanism, SetUp, Workload};
use crate::offsets::blocks;
use crate::os::{allowed_cpus, current_cpu};
use crate::plan::Plan;
use crate::refusal::{Refusal, Stop};
use crate::ruler::Ruler;
use crate::wire::{Observations, Writer};
use std::collections::BTreeSet;
use std::io;
use std::mem::ManuallyDrop;

/// The largest k of PROTOCOL.md, section 1.
const MOST_UNITS: u64 = 1_000_000_000_000;

/// How batches are done of which no time is told.
pub(crate) struct Untimed {
    /// What a batch gives in its place.
    pub(crate) quantity: &'static str,
    /// Parts of a batch, each of whole laps.
    pub(crate) parts: u64,
    /// It can be read here.
    pub(crate) check: fn() -> Result<(), Refusal>,
    /// One batch.
    pub(crate) batch: fn(&mut dyn Workload, u64) -> u64,
}

/// `None`: batches are timed.
pub(crate) type Way = Option<&'static Untimed>;

/// Batches of contexts that stay. They are never dropped, because the process ends then: it would
/// unwind every suspended coroutine one by one, to no one's use.
pub(crate) fn ring(writer: &mut Writer, plan: &Plan, set_up: SetUp, way: Way) -> Result<(), Stop> {
    let _kept = ManuallyDrop::new(blocks(plan));
    batches(writer, plan, set_up, way)
}

pub(crate) fn batches(writer: &mut Writer, plan: &Plan, set_up: SetUp, way: Way) -> Result<(), Stop> {
    let mut workload = ManuallyDrop::new(set_up(plan)?);
    for note in workload.notes() {
        writer.note(&note)?;
    }
    measure_with(writer, plan, workload.as_mut(), way)
}

fn measure_with(writer: &mut Writer, plan: &Plan, workload: &mut dyn Workload, way: Way) -> Result<(), Stop> {
    let units = calibrate(plan, workload, way)?;
    way.map_or(Ok(()), |untimed| (untimed.check)())?;
    writer.plan(plan, units)?;
    let mut records = Records::new(plan);

    workload.reset();
    let begin = Observed::begin();
    match way {
        Some(untimed) => records.untimed(workload, units, untimed),
        None => records.batches(workload, units, plan.warmup_batches as usize),
    }
    let end = Observed::end();
    let mut claim = workload.claim();
    workload.fault().map_or(Ok(()), Err)?;
    if claim.broken {
        let detail = "a context received another token than the one it was due";
        return Err(Refusal::failed("self_check_failed", detail).into());
    }
    records.check_intervals()?;

    let warmup = plan.warmup_batches as usize;
    let samples = records.report(writer, units, warmup, way)?;
    let kernel = end.kernel_since(&begin).map_err(|reason| claim.why.insert("kernel", reason)).ok();
    claim.counts.extend(end.cpu_ns_since(&begin).map(|ns| ("cpu_time_ns", ns)));
    let mut cpus: BTreeSet<u32> = records.batches.iter().filter_map(|batch| batch.cpu).collect();
    cpus.extend(workload.cpus());
    let (hops, migrations) = verify(plan, workload, &mut cpus, &mut claim).unzip();
    workload.fault().map_or(Ok(()), Err)?;
    let units = (plan.warmup_batches + plan.batches) * units;
    let page_faults = end.faults_since(&begin);
    writer.evidence(units, claim, Observations { kernel, cpus, migrations, hops, page_faults })?;
    Ok(writer.end_ok(samples)?)
}

/// Pinning the process is the host's duty; a plan that says one CPU while the process may run on
/// others would be believed. Contexts that share threads cannot be pinned one by one.
pub(crate) fn check_placement(plan: &Plan, mechanism: &Mechanism) -> Result<(), Refusal> {
    if plan.timing == "each" && COUNTER_NAME.is_none() {
        let detail = format!(
            "timing=each needs a cycle counter, and this probe knows none of {}; use timing=batch",
            std::env::consts::ARCH
        );
        return Err(Refusal::unsupported("unsupported_here", detail));
    }
    if plan.cpus.len() > 1 && mechanism.pins {
        let allowed = allowed_cpus().unwrap_or_else(|| plan.cpus.clone()); // Where nobody tells, the start says it.
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
fn calibrate(plan: &Plan, workload: &mut dyn Workload, way: Way) -> Result<u64, Refusal> {
    let lap = workload.lap();
    if let Some(untimed) = way {
        return Ok(plan.batch_units.max(1).next_multiple_of(lap * untimed.parts));
    }
    if plan.batch_units > 0 {
        return Ok(plan.batch_units.next_multiple_of(lap));
    }
    let mut histogram = (plan.timing == "each").then(Histogram::new);
    let (mut units, mut long_enough) = (lap, 0);
    while long_enough < 3 {
        let ticks = batch(workload, units, &mut histogram);
        workload.fault().map_or(Ok(()), Err)?;
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

/// What one batch writes.
#[derive(Debug, Clone, Copy)]
struct Batch {
    ticks: u64,
    /// The slower of that before and that after it.
    ruler: Ruler,
    cpu: Option<u32>,
}

/// All that the batches write to, made and touched before them.
struct Records {
    batches: Vec<Batch>,
    warmup: Option<Box<Histogram>>,
    measure: Option<Box<Histogram>>,
}

impl Records {
    fn new(plan: &Plan) -> Self {
        let each = plan.timing == "each";
        let batches = (plan.warmup_batches + plan.batches) as usize;
        Self {
            batches: vec![Batch { ticks: u64::MAX, ruler: Ruler::read(), cpu: Some(u32::MAX) }; batches],
            warmup: each.then(Histogram::new),
            measure: each.then(Histogram::new),
        }
    }

    /// The silence of PROTOCOL.md: no writing, no allocation, no floating point.
    fn batches(&mut self, workload: &mut dyn Workload, units: u64, warmup: usize) {
        let (warmup_batches, measure_batches) = self.batches.split_at_mut(warmup);
        phase(workload, units, warmup_batches, &mut self.warmup);
        phase(workload, units, measure_batches, &mut self.measure);
    }

    /// The same where nothing is timed.
    fn untimed(&mut self, workload: &mut dyn Workload, units: u64, untimed: &Untimed) {
        for record in &mut self.batches {
            record.ticks = (untimed.batch)(workload, units);
            record.cpu = current_cpu();
        }
    }

    /// Intervals that ended before they began must not be taken for short ones.
    fn check_intervals(&self) -> Result<(), Refusal> {
        let backwards: u64 = [&self.warmup, &self.measure].into_iter().flatten().map(|h| h.backwards).sum();
        if backwards == 0 {
            return Ok(());
        }
        let detail = format!(
            "{backwards} intervals of the cycle counter were negative: the counters of the CPUs are out of step; use timing=batch"
        );
        Err(Refusal::failed("self_check_failed", detail))
    }

    fn report(&self, writer: &mut Writer, units: u64, warmup: usize, way: Way) -> io::Result<u64> {
        if let (Some(warmup), Some(measure)) = (&self.warmup, &self.measure) {
            writer.histogram("warmup", warmup)?;
            writer.histogram("measure", measure)?;
            return Ok(warmup.units + measure.units);
        }
        let (warmup, measure) = self.batches.split_at(warmup);
        for (phase, batches) in [("warmup", warmup), ("measure", measure)] {
            let ticks: Vec<i64> = batches.iter().map(|batch| batch.ticks as i64).collect();
            let rulers: Vec<Ruler> = batches.iter().map(|batch| batch.ruler).collect();
            match way {
                Some(untimed) => writer.bytes(phase, units, &ticks, untimed.quantity)?,
                None => writer.samples(phase, units, &ticks, &rulers)?,
            }
        }
        Ok(self.batches.len() as u64)
    }
}

fn phase(workload: &mut dyn Workload, units: u64, batches: &mut [Batch], histogram: &mut Option<Box<Histogram>>) {
    let counter = histogram.as_ref().map_or(0, |_| read_counter());
    let clock = now();
    let mut ruler = Ruler::read();
    for one in batches {
        one.ticks = batch(workload, units, histogram);
        let after = Ruler::read();
        one.ruler = ruler.slower(after);
        ruler = after;
        one.cpu = current_cpu();
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
    claim: &mut Claim,
) -> Option<(Hops, u64)> {
    if plan.verify_units == 0 {
        return None;
    }
    let lap = workload.lap();
    let units = plan.verify_units.next_multiple_of(lap);
    let judged = workload.verify(units, Trace::new(units))?.judge(lap, cpus);
    match &judged {
        None => {
            let reason = "a thread cannot tell on which CPU it runs on this system";
            claim.why.extend([("hops", reason), ("migrations", reason)]);
        }
        Some((Hops { same_thread: None, .. }, _)) => {
            claim.why.insert("hops_same_thread", "a thread cannot tell its number on this system");
        }
        Some(_) => {}
    }
    judged
}

#[cfg(test)]
mod tests;
