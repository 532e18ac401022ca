//! Who held a CPU while a task waited for it, from the kernel's tracepoints.

mod held;

use crate::os;
use crate::spawn::Child;
use std::collections::{BTreeMap, BTreeSet};
use switchcost_model::{LateWake, Obstacle, TracedWake};

pub(crate) use held::{Event, What};

/// Waits whose time is divided among those who held the CPU.
pub const LONGEST: usize = 10;

/// What goes on on some CPUs. It ends when it is dropped, also with the host.
#[derive(Debug)]
pub struct Trace {
    tracing: os::trace::Trace,
    events: Vec<Event>,
}

/// How tasks waited for a CPU.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Waits {
    /// Each, from waking to running, ns, the longest first.
    pub ns: Vec<u64>,
    /// Who had the CPU in the [`LONGEST`] of them, task, interrupt or softirq → ns.
    pub held: BTreeMap<String, u64>,
    /// The [`LONGEST`] of wake-ups by timers, the latest first.
    pub late: Vec<LateWake>,
    /// The same, or of tasks without timers the [`LONGEST`] waits, each with what went on around
    /// it.
    pub traced: Vec<TracedWake>,
    /// Events of the scheduler that the kernel did not keep, a few at most.
    pub lost: u64,
}

impl Trace {
    /// Begins on these CPUs.
    ///
    /// # Errors
    /// What it needs.
    pub fn begin(cpus: &[u32]) -> Result<Self, Obstacle> {
        Ok(Self { tracing: os::trace::Trace::begin(cpus)?, events: Vec::new() })
    }

    /// Takes what has happened: the kernel's memory for it is short.
    ///
    /// # Errors
    /// It has another form here.
    pub fn collect(&mut self) -> Result<(), Obstacle> {
        self.tracing.collect(&mut self.events)
    }

    /// Ends it: how these tasks waited.
    ///
    /// # Errors
    /// More than a few events were lost.
    pub fn waits(mut self, tasks: &BTreeSet<i32>) -> Result<Waits, Obstacle> {
        self.tracing.stop();
        self.collect()?;
        let lost = self.tracing.lost()?;
        self.events.sort_by_key(|event| event.at);
        let mut waits = held::waits(&self.events, tasks);
        waits.sort_by_key(|wait| std::cmp::Reverse(wait.lasted()));
        let mut held = BTreeMap::new();
        for wait in waits.iter().take(LONGEST) {
            held::add(&mut held, &self.events, wait);
        }
        let mut late = held::latest(&self.events, tasks, LONGEST, crate::cpus::idle_state);
        let wakes = late.iter().map(|late| late.wake.clone()).collect();
        if late.is_empty() {
            late = waits.iter().take(LONGEST).map(|wait| held::Late::woken(&self.events, *wait)).collect();
        }
        let unix = os::trace::unix_of_events();
        let traced = |late: &held::Late| late.traced(&self.events, tasks, unix, crate::cpus::idle_state);
        let traced = late.iter().map(traced).collect();
        Ok(Waits { ns: waits.iter().map(held::Wait::lasted).collect(), held, late: wakes, traced, lost })
    }

    /// The same of the tasks of a child.
    ///
    /// # Errors
    /// As above.
    pub fn waits_of(self, child: &Child) -> Result<Waits, Obstacle> {
        self.waits(&child.tasks())
    }
}

/// Tasks of a process; none where it is not there.
#[must_use]
pub fn tasks_of(pid: u32) -> BTreeSet<i32> {
    os::trace::tasks_of(pid)
}

/// The CPUs that any of them may use.
#[must_use]
pub fn cpus_of(pid: u32) -> BTreeSet<u32> {
    os::trace::cpus_of(pid)
}
