//! Nobody is watched here.

use crate::program::{ProgramError, Woken};
use std::os::fd::BorrowedFd;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};
use switchcost_model::Observed;

/// See the crate's [`crate::program::Watched`]. There is none.
#[derive(Debug)]
pub(crate) enum Watched {}

impl Watched {
    pub(crate) fn begin(_pid: u32, _children: bool, _from_birth: bool) -> Result<Self, ProgramError> {
        Err(ProgramError::Unsupported(super::UNSUPPORTED.to_owned()))
    }

    pub(crate) fn own(&mut self, _child: Child) {
        match *self {}
    }

    pub(crate) fn look(&mut self) -> bool {
        match *self {}
    }

    pub(crate) fn cost_of_look(&self) -> Duration {
        match *self {}
    }

    pub(crate) fn wait(&self, _until: Instant, _interrupt: Option<BorrowedFd<'_>>) -> Woken {
        match *self {}
    }

    pub(crate) fn conclude(&mut self, _kill: bool) -> Option<ExitStatus> {
        match *self {}
    }

    pub(crate) fn observed(&self) -> Observed {
        match *self {}
    }
}
