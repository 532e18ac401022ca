//! Nobody is watched here.

use crate::interrupt::Interrupt;
use crate::program::{Observed, ProgramError, Service, Woken};
use crate::spawn::ExitStatus;
use std::process::Child;
use std::time::{Duration, Instant};

/// See [`crate::program::available`].
pub(crate) fn available() -> Result<(), ProgramError> {
    Err(ProgramError::Unsupported(super::UNWATCHED.to_owned()))
}

/// See the crate's [`crate::program::Watched`]. There is none.
#[derive(Debug)]
pub(crate) enum Watched {}

impl Watched {
    pub(crate) fn begin(_pid: u32, _children: bool, _from_birth: bool) -> Result<Self, ProgramError> {
        available().map(|()| unreachable!("it is not"))
    }

    pub(crate) fn service(_service: &Service) -> Result<Self, ProgramError> {
        available().map(|()| unreachable!("it is not"))
    }

    pub(crate) fn own(&mut self, _child: Child) {
        match *self {}
    }

    pub(crate) fn sample(&mut self) -> bool {
        match *self {}
    }

    pub(crate) fn cost_of_sample(&self) -> Duration {
        match *self {}
    }

    pub(crate) fn wait(&self, _until: Instant, _interrupt: Option<&Interrupt>) -> Woken {
        match *self {}
    }

    pub(crate) fn conclude(&mut self, _kill: bool) -> Option<ExitStatus> {
        match *self {}
    }

    pub(crate) fn observed(&self) -> Observed {
        match *self {}
    }
}
