//! What an open-loop experiment wants around a start: hogs beside the probe, and the class of the probe's own tasks. The host does both, so that every kit has them
//! alike and no probe is asked whether they were there.

use std::cell::Cell;
use std::time::{Duration, Instant};
use switchcost_machine::load::{self, Class, HogPlan, Scheduled as Reading, Scheduling};
use switchcost_machine::spawn::Child;
use switchcost_machine::trace::Trace;
use switchcost_model::{Load, Obstacle, Plan, Reason, Scheduled, Tail, Variant};

/// Timer slack of the probe, ns: the least that there is.
const SLACK_NS: u32 = 1;

/// Part of the time that the intended times take after which a probe that has not come to its end is overloaded, and the least of it.
const GRACE: u32 = 4;
const LEAST_GRACE: Duration = Duration::from_millis(250);

/// Why this variant cannot be had on so many CPUs, before anything is started.
pub(crate) fn refusal(variant: &Variant, cpus: usize) -> Option<Reason> {
    if !variant.experiment.open_loop {
        return None;
    }
    let asked = Load::of(&variant.parameters);
    let hogs = asked.hogs.saturating_mul(cpus as u64);
    let why = load::refusal(
        scheduling(&asked),
        !variant.placement.cpus().is_empty() || variant.placement.pair().is_some(),
        hogs,
        asked.period_ns,
    )?;
    Some(Reason::LoadRefused { why })
}

fn class(word: &str) -> Class {
    Class::of(word).unwrap_or(Class::Other)
}

/// Of the probe's tasks.
fn scheduling(asked: &Load) -> Scheduling {
    let own = class(&asked.class);
    let slice_ns = if own == Class::Deadline { asked.period_ns } else { asked.slice_ns };
    Scheduling { class: own, nice: asked.nice, slice_ns }
}

/// Load of one start.
pub(crate) struct Around {
    asked: Load,
    hogs: Option<HogPlan>,
    scheduling: Scheduling,
    /// How long the intended times take.
    lasts: Duration,
    /// CPUs on which is traced for whom its tasks wait; none: nothing is traced.
    traced: Vec<u32>,
}

/// It can be traced here for whom tasks wait.
pub(crate) fn may_trace(cpus: &[u32]) -> bool {
    Trace::begin(cpus).is_ok()
}

impl Around {
    /// Of this plan, on these CPUs; None: its experiment has no such thing.
    pub(crate) fn of(plan: &Plan, cpus: &[u32]) -> Option<Self> {
        let variant = &plan.variant;
        if !variant.experiment.open_loop {
            return None;
        }
        let asked = Load::of(&variant.parameters);
        let hogs = (asked.hogs > 0).then(|| HogPlan {
            cpus: cpus.to_vec(),
            each: u32::try_from(asked.hogs).unwrap_or(u32::MAX),
            forking: asked.forking,
            scheduling: Scheduling { class: class(&asked.hog_class), nice: 0, slice_ns: asked.hog_slice_ns },
        });
        let scheduling = scheduling(&asked);
        let batches = plan.batches.saturating_add(plan.warmup_batches);
        let lasts = match plan.batch_units {
            0 => plan.batch_ns,
            units => units.saturating_mul(asked.period_ns),
        };
        let lasts = Duration::from_nanos(lasts.saturating_mul(batches));
        Some(Self { asked, hogs, scheduling, lasts, traced: Vec::new() })
    }

    /// The same, traced on these CPUs.
    pub(crate) fn traced(self, cpus: &[u32]) -> Self {
        Self { traced: cpus.to_vec(), ..self }
    }

    pub(crate) fn hogs(&self) -> Option<HogPlan> {
        self.hogs.clone()
    }

    pub(crate) fn timer_slack_ns(&self) -> u32 {
        SLACK_NS
    }
}

/// A start under load while it goes on.
pub(crate) struct Watched<'a> {
    around: &'a Around,
    /// When the hogs are ended though the probe has not come to its end.
    pub(crate) until: &'a Cell<Option<Instant>>,
    first: Option<(Instant, Reading, u64)>,
    trace: Option<Trace>,
    seen: Scheduled,
}

impl<'a> Watched<'a> {
    pub(crate) fn new(around: &'a Around, until: &'a Cell<Option<Instant>>) -> Self {
        let hogs = around.hogs.as_ref().map_or(0, |plan| plan.cpus.len() as u64 * u64::from(plan.each));
        Self { around, until, first: None, trace: None, seen: Scheduled { hogs, ..Scheduled::default() } }
    }

    /// The plan has arrived: the classes are set, and the hogs let loose.
    pub(crate) fn begin(&mut self, child: &Child, began: Instant) {
        let scheduled = if self.around.asked.is_usual() && load::inherits_usual() {
            Ok(())
        } else {
            child.schedule(self.around.scheduling)
        };
        let (class, nice, hogs) = (&self.around.asked.class, self.around.asked.nice, self.seen.hogs);
        let refused = |cause| Obstacle::ClassRefused { class: class.clone(), nice, cause };
        let missing = |missing: usize| Obstacle::HogsMissing { missing: missing as u64, hogs };
        let refused = scheduled.map_err(refused).and_then(|()| child.release_hogs().map_err(missing)).err();
        match refused {
            None => self.seen.loaded_ns = Some(began.elapsed().as_nanos() as u64),
            refused => self.seen.refused = refused,
        }
        if !self.around.traced.is_empty() {
            match Trace::begin(&self.around.traced) {
                Ok(trace) => self.trace = Some(trace),
                Err(why) => self.seen.tail = Some(Tail { unknown: Some(why), ..Tail::default() }),
            }
        }
        let Some(reading) = child.scheduled() else { return };
        self.take(&reading);
        self.first = Some((Instant::now(), reading, child.hogs_cpu_ns()));
        let grace = (self.around.lasts / GRACE).max(LEAST_GRACE);
        self.until.set(Some(Instant::now() + self.around.lasts + grace));
    }

    /// The figures have arrived: another look, and the hogs may go.
    pub(crate) fn end(&mut self, child: &Child) {
        if let Some(trace) = self.trace.take() {
            self.seen.tail = Some(trace.end(child));
        }
        if let Some((at, first, cpu_ns)) = self.first.take()
            && let Some(reading) = child.scheduled()
        {
            self.take(&reading);
            self.seen.hogs_stopped = child.hogs_are_stopped();
            self.seen.between_ns = at.elapsed().as_nanos() as u64;
            if !self.seen.cut {
                self.seen.hogs_cpu_ns = child.hogs_cpu_ns().saturating_sub(cpu_ns);
            }
            self.seen.waited_ns = reading.waited_ns.zip(first.waited_ns).map(|(now, then)| now.saturating_sub(then));
        }
        self.until.set(None);
        child.end_hogs();
    }

    /// The time for the load is over, and the probe has not come to its end.
    pub(crate) fn cut(&mut self, child: &Child) {
        if self.until.get().is_some_and(|until| Instant::now() >= until) {
            self.until.set(None);
            self.seen.cut = true;
            let before = self.first.as_ref().map_or(0, |(_, _, cpu_ns)| *cpu_ns);
            self.seen.hogs_cpu_ns = child.hogs_cpu_ns().saturating_sub(before);
            child.end_hogs();
        }
    }

    pub(crate) fn seen(self) -> Scheduled {
        self.seen
    }

    fn take(&mut self, reading: &Reading) {
        self.seen.classes.extend(reading.classes.iter().cloned());
        self.seen.nices.extend(&reading.nices);
        self.seen.slices_ns.extend(&reading.slices_ns);
        self.seen.channels.extend(reading.channels.iter().cloned());
    }
}
