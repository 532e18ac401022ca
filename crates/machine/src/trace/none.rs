//! Where nothing is traced.

use crate::trace::Event;
use std::collections::BTreeSet;
use switchcost_model::Obstacle;

#[derive(Debug)]
pub(crate) struct Trace;

impl Trace {
    pub(crate) fn begin(_cpus: &[u32]) -> Result<Self, Obstacle> {
        Err(Obstacle::TracesOnLinux)
    }

    pub(crate) fn stop(&mut self) {}

    pub(crate) fn lost(&mut self) -> Result<u64, Obstacle> {
        Ok(0)
    }

    pub(crate) fn collect(&mut self, _events: &mut Vec<Event>) -> Result<(), Obstacle> {
        Ok(())
    }
}

/// See [`crate::trace::tasks_of`].
pub(crate) fn tasks_of(_pid: u32) -> BTreeSet<i32> {
    BTreeSet::new()
}

/// See [`crate::trace::cpus_of`].
pub(crate) fn cpus_of(_pid: u32) -> BTreeSet<u32> {
    BTreeSet::new()
}

/// What is added to the clock of events for ns since 1970.
pub(crate) fn unix_of_events() -> i64 {
    0
}
