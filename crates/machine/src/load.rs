//! Tasks that want the CPU beside a probe, and how the probe's own tasks are scheduled.

mod kinds;

use switchcost_model::Obstacle;

pub use kinds::{Class, HogPlan, MOST_HOGS, Scheduled, Scheduling};

/// Why tasks cannot be scheduled so here, `hogs` tasks cannot be put beside them, or a period in ns
/// is below what timers can; None: they can.
#[must_use]
pub fn refusal(scheduling: Scheduling, pinned: bool, hogs: u64, period_ns: u64) -> Option<Obstacle> {
    crate::os::load_refusal(scheduling, pinned, hogs, period_ns)
}

/// Probes inherit the usual class and nice value from the host; otherwise the host sets what a row
/// asks, also where that is the usual.
#[must_use]
pub fn inherits_usual() -> bool {
    crate::os::inherits_usual()
}
