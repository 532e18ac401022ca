//! Hogs beside the probe, and the class of the probe's own tasks. The host does both, so that every
//! kit has them alike and no probe is asked whether they were there.

use super::part::{Acts, Around};
use crate::no_answer::NoAnswer;
use std::time::{Duration, Instant};
use switchcost_analysis::longest_ns;
use switchcost_machine::load::{self, Class, HogPlan, Scheduled as Reading, Scheduling};
use switchcost_machine::spawn::{Child, SpawnRequest};
use switchcost_machine::trace::{LONGEST, Trace, Waits};
use switchcost_model::{
    LateLimit, Load, Obstacle, PartSeen, Phase, Plan, Reason, Scheduled, Tail, TracedWake, Transcript, Variant,
};

/// Timer slack of the probe, ns: the least that there is.
const SLACK_NS: u32 = 1;

/// Part of the time that the intended times take after which a probe that has not come to its end
/// is overloaded, and the least of it.
const GRACE: u32 = 4;
const LEAST_GRACE: Duration = Duration::from_millis(250);

pub(super) const ACTS: Acts = Acts {
    refusal,
    // It can be traced here for whom tasks wait.
    looks_first: |cpus| Trace::begin(cpus).is_ok(),
    seeks: |variant| Load::of(&variant.parameters).stop_ns > 0,
    around: |plan, cpus, first| Some(Box::new(Loaded::new(plan, cpus, first))),
    ..Acts::NONE
};

fn refusal(variant: &Variant, cpus: usize) -> Option<Reason> {
    let asked = Load::of(&variant.parameters);
    let hogs = asked.hogs.saturating_mul(cpus as u64);
    let pinned = !variant.placement.cpus().is_empty() || variant.placement.pair().is_some();
    let why = load::refusal(scheduling(&asked), pinned, hogs, asked.period_ns)?;
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

/// A start under load.
struct Loaded {
    asked: Load,
    cpus: Vec<u32>,
    /// How long the intended times take.
    lasts: Duration,
    /// It is traced for whom its tasks wait.
    traces: bool,
    /// When the hogs are ended though the probe has not come to its end.
    until: Option<Instant>,
    /// The look at the plan, and the CPU time of the hogs until then.
    looked: Option<(Instant, Reading, u64)>,
    trace: Option<Trace>,
    /// The latest wake-ups that were traced.
    traced: Vec<TracedWake>,
    seen: Scheduled,
}

impl Around for Loaded {
    fn change(&self, request: &mut SpawnRequest) -> Result<(), NoAnswer> {
        request.timer_slack_ns = Some(SLACK_NS);
        request.hogs = (self.asked.hogs > 0).then(|| HogPlan {
            cpus: self.cpus.clone(),
            each: u32::try_from(self.asked.hogs).unwrap_or(u32::MAX),
            forking: self.asked.forking,
            scheduling: Scheduling { class: class(&self.asked.hog_class), nice: 0, slice_ns: self.asked.hog_slice_ns },
        });
        Ok(())
    }

    /// The classes are set, and the hogs let loose.
    fn begin(&mut self, child: &Child, began: Instant) {
        match self.load(child) {
            Ok(()) => self.seen.loaded_ns = Some(began.elapsed().as_nanos() as u64),
            Err(why) => self.seen.refused = Some(why),
        }
        if self.traces {
            match Trace::begin(&self.cpus) {
                Ok(trace) => self.trace = Some(trace),
                Err(why) => self.seen.tail = Some(Tail { unknown: Some(why), ..Tail::default() }),
            }
        }
        let Some(reading) = child.scheduled() else { return };
        self.take(&reading);
        self.looked = Some((Instant::now(), reading, child.hogs_cpu_ns()));
        let grace = (self.lasts / GRACE).max(LEAST_GRACE);
        self.until = Some(Instant::now() + self.lasts + grace);
    }

    /// Another look, and the hogs may go.
    fn end(&mut self, child: &Child) {
        if let Some((at, first, cpu_ns)) = self.looked.take()
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
        self.until = None;
        child.end_hogs();
        // Last: to give up events of the kernel can take half a second.
        if let Some(trace) = self.trace.take() {
            let (tail, traced) = tail(trace.waits_of(child));
            (self.seen.tail, self.traced) = (Some(tail), traced);
        }
    }

    fn alarm(&self) -> Option<Instant> {
        self.until
    }

    /// The time for the load is over, and the probe has not come to its end.
    fn woken(&mut self, child: &Child) {
        self.until = None;
        self.seen.cut = true;
        let before = self.looked.as_ref().map_or(0, |(_, _, cpu_ns)| *cpu_ns);
        self.seen.hogs_cpu_ns = child.hogs_cpu_ns().saturating_sub(before);
        child.end_hogs();
    }

    fn seen(mut self: Box<Self>, transcript: &mut Transcript) -> PartSeen {
        if self.asked.stop_ns > 0 {
            self.seen.limit = Some(self.limit(transcript));
        }
        PartSeen { scheduled: Some(self.seen), ..PartSeen::default() }
    }
}

impl Loaded {
    fn new(plan: &Plan, cpus: &[u32], first: bool) -> Self {
        let asked = Load::of(&plan.variant.parameters);
        let batches = plan.batches.saturating_add(plan.warmup_batches);
        let batch = match plan.batch_units {
            0 => plan.batch_ns,
            units => units.saturating_mul(asked.period_ns),
        };
        let hogs = asked.hogs.saturating_mul(cpus.len() as u64);
        Self {
            traces: first || asked.stop_ns > 0,
            asked,
            cpus: cpus.to_vec(),
            lasts: Duration::from_nanos(batch.saturating_mul(batches)),
            until: None,
            looked: None,
            trace: None,
            traced: Vec::new(),
            seen: Scheduled { hogs, ..Scheduled::default() },
        }
    }

    fn load(&self, child: &Child) -> Result<(), Obstacle> {
        let (class, nice, hogs) = (&self.asked.class, self.asked.nice, self.seen.hogs);
        if !self.asked.is_usual() || !load::inherits_usual() {
            let refused = |cause| Obstacle::ClassRefused { class: class.clone(), nice, cause };
            child.schedule(scheduling(&self.asked)).map_err(refused)?;
        }
        child.release_hogs().map_err(|missing| Obstacle::HogsMissing { missing: missing as u64, hogs })
    }

    /// What came of the lateness that ends the row. Of the traced wake-ups the one that is as late
    /// as the probe's latest is that one: some are of its warm-up.
    fn limit(&mut self, transcript: &Transcript) -> LateLimit {
        let measured = transcript.histograms.iter().filter(|histogram| histogram.phase == Phase::Measure);
        let wakes = measured.map(|histogram| histogram.units).fold(0, u64::saturating_add);
        let latest_ns = longest_ns(transcript).unwrap_or(0.0).round() as u64;
        let limit = LateLimit { ns: self.asked.stop_ns, wakes, latest_ns, traced: None };
        let traced = self.traced.drain(..).min_by_key(|traced| traced.wake.late_ns().abs_diff(latest_ns));
        LateLimit { traced: traced.filter(|_| limit.exceeded()), ..limit }
    }

    fn take(&mut self, reading: &Reading) {
        self.seen.classes.extend(reading.classes.iter().cloned());
        self.seen.nices.extend(&reading.nices);
        self.seen.slices_ns.extend(&reading.slices_ns);
        self.seen.channels.extend(reading.channels.iter().cloned());
    }
}

/// For whom tasks waited, the longest of it, and the latest of all with what went on around each.
fn tail(waits: Result<Waits, Obstacle>) -> (Tail, Vec<TracedWake>) {
    match waits {
        Err(why) => (Tail { unknown: Some(why), ..Tail::default() }, Vec::new()),
        Ok(Waits { ns, held, late, traced, lost }) => {
            let wakes = ns.len() as u64;
            let longest_ns = ns.into_iter().take(LONGEST).collect();
            (Tail { wakes, longest_ns, held, late, lost, unknown: None }, traced)
        }
    }
}
