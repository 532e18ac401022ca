//! Processes: not here.

use super::UNSUPPORTED;
use crate::interrupt::Interrupt;
use crate::spawn::{Exit, Heard, SpawnError, SpawnRequest};
use std::convert::Infallible;
use std::path::Path;
use std::time::Instant;
use switchcost_model::Tree;

/// As on Linux.
pub(crate) const REPORT_FD: i32 = 3;

/// See [`crate::spawn::ENVIRONMENT`].
pub(crate) const ENVIRONMENT: &[&str] = &["PATH"];

/// A child that cannot exist.
#[derive(Debug)]
pub(crate) struct Running(Infallible);

impl Running {
    pub(crate) fn start(request: &SpawnRequest) -> Result<Self, SpawnError> {
        Err(SpawnError::Other(request.program.clone(), UNSUPPORTED.to_owned()))
    }

    pub(crate) fn pid(&self) -> i32 {
        match self.0 {}
    }

    pub(crate) fn listen(&mut self, _until: Instant, _interrupt: Option<&Interrupt>) -> Heard {
        match self.0 {}
    }

    pub(crate) fn printed(&mut self) -> Option<Vec<u8>> {
        match self.0 {}
    }

    pub(crate) fn task_tree(&self, _reported_pid: u64) -> Option<Tree> {
        match self.0 {}
    }

    pub(crate) fn wait_until(&self, _deadline: Option<Instant>) -> bool {
        match self.0 {}
    }

    pub(crate) fn left_behind(&self) -> Option<usize> {
        match self.0 {}
    }

    pub(crate) fn kill_group(&self) {
        match self.0 {}
    }

    pub(crate) fn end(&mut self) -> Exit {
        match self.0 {}
    }
}

/// See [`crate::spawn::adopt_orphans`].
pub(crate) fn adopt_orphans() {}

/// See [`crate::spawn::abandon`]: nothing was started.
pub(crate) fn abandon() {}

/// See [`crate::spawn::reap_strays`].
pub(crate) fn reap_strays() -> u32 {
    0
}

/// Nothing can be started here.
pub(crate) fn fault(file: &Path) -> Option<SpawnError> {
    Some(SpawnError::Other(file.to_owned(), UNSUPPORTED.to_owned()))
}

/// See [`crate::spawn::tasks_created`].
pub(crate) fn tasks_created() -> Option<u64> {
    None
}
