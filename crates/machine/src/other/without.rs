//! What only Linux has, as all other systems answer for it.

use super::spawn::Running;
use crate::load::{Scheduled, Scheduling};
use std::collections::BTreeSet;
use std::path::Path;
use switchcost_model::Obstacle;

/// Nothing runs beside a probe.
impl Running {
    pub(crate) fn release_hogs(&self) -> Result<(), usize> {
        Ok(())
    }

    pub(crate) fn cpu_ns(&self) -> Option<u64> {
        None
    }

    pub(crate) fn hogs_cpu_ns(&self) -> u64 {
        0
    }

    pub(crate) fn hogs_are_stopped(&self) -> bool {
        false
    }

    pub(crate) fn end_hogs(&self) {}

    pub(crate) fn schedule(&self, _: Scheduling) -> Result<(), String> {
        Err("classes of tasks are set on Linux only".to_owned())
    }

    pub(crate) fn tracer(&self) -> Option<String> {
        None
    }

    pub(crate) fn tasks(&self) -> BTreeSet<i32> {
        BTreeSet::new()
    }

    pub(crate) fn scheduled(&self) -> Option<Scheduled> {
        None
    }
}

/// See [`crate::root_may_run`]. There is no root.
pub(crate) fn root_may_run(_: &Path) -> Result<(), String> {
    Ok(())
}

/// See [`crate::root_may_start`]. There is no root.
pub(crate) fn root_may_start(_: &Path, _: Option<&Path>) -> Result<(), String> {
    Ok(())
}

/// See [`crate::spawn::forget_inherited`].
pub(crate) fn forget_inherited() {}

/// See [`crate::load::inherits_usual`]: classes are not set here.
pub(crate) fn inherits_usual() -> bool {
    true
}

/// See [`crate::load::refusal`].
pub(crate) fn load_refusal(_: crate::load::Scheduling, _: bool, _: u64, _: u64) -> Option<Obstacle> {
    Some(Obstacle::LoadsOnLinux)
}

/// See [`crate::locks`]. Nobody tells here.
pub(crate) fn locks(_: &Path) -> crate::locks::Locks {
    crate::locks::Locks::Kept
}

/// See [`crate::making`]. There is no root.
pub(crate) fn hand_over(_: &Path) {}
