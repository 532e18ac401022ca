//! Experiment wakeup, section 8 of the protocol.

use crate::clock::now;
use crate::evidence::{Observed, Turns};
use crate::mechanism::{no, Claim, Mechanism, Wait};
use crate::plan::Plan;
use crate::refusal::Stop;
use crate::waiter::{Waiter, PERIOD};
use crate::wire::{Observations, Writer};

impl Mechanism {
    /// Experiment `wakeup` alone.
    #[must_use]
    pub const fn waiter(id: &'static str, wait: Wait) -> Self {
        Self { experiments: &["wakeup"], parameters: &[PERIOD], timings: &["batch"], wait, ..Self::new(id, no) }
    }
}

pub(crate) fn measure(writer: &mut Writer, plan: &Plan, wait: Wait) -> Result<(), Stop> {
    let period = plan.number(PERIOD.name) * 1000;
    let units = match plan.batch_units {
        0 => plan.batch_ns.div_ceil(period).max(1),
        asked => asked,
    };
    let wait = wait(plan)?;
    let mut waiter = Waiter::new(period, units, plan.warmup_batches, plan.batches);
    let begin = Observed::begin();
    // Fixed before hogs are let loose, which keep this thread from the CPU as well.
    waiter.begin(now());
    writer.plan(plan, units)?;
    let waiter = wait(waiter);
    let end = Observed::end();

    let [warmup, measure] = &waiter.histograms;
    writer.histogram("warmup", warmup)?;
    writer.histogram("measure", measure)?;
    let mut turns = Turns::default();
    turns.count(waiter.served);
    let mut claim = Claim::new(turns, waiter.served, false);
    claim.counts.insert("wakes_for_several", waiter.several);
    claim.counts.extend(end.cpu_ns_since(&begin).map(|ns| ("cpu_time_ns", ns)));
    let kernel = end.kernel_since(&begin).map_err(|reason| claim.why.insert("kernel", reason)).ok();
    let page_faults = end.faults_since(&begin);
    let observations = Observations { kernel, cpus: waiter.cpus, page_faults, ..Observations::default() };
    writer.evidence(waiter.served, claim, observations)?;
    Ok(writer.end_ok(warmup.units + measure.units)?)
}
