//! Processes: not here.

use super::UNSUPPORTED;
use crate::spawn::{Exit, SpawnError, SpawnRequest};
use std::convert::Infallible;
use std::os::fd::OwnedFd;
use std::time::Instant;

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

    pub(crate) fn report(&self) -> &OwnedFd {
        match self.0 {}
    }

    pub(crate) fn log(&self) -> &OwnedFd {
        match self.0 {}
    }

    pub(crate) fn pidfd(&self) -> Option<&OwnedFd> {
        match self.0 {}
    }

    pub(crate) fn wait_until(&self, _deadline: Option<Instant>) -> bool {
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
pub(crate) fn adopt_orphans() -> Result<(), String> {
    Err(UNSUPPORTED.to_owned())
}

/// See [`crate::spawn::reap_strays`].
pub(crate) fn reap_strays() -> u32 {
    0
}
