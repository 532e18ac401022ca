//! A running program's switches, read from `/proc`: nothing is attached to it, and one's own programs need no privilege.

mod observed;

pub use observed::{Observed, ProgramError, ThreadSeen, Woken};

use crate::interrupt::Interrupt;
use crate::os;
use crate::spawn::{ExitStatus, SpawnError, find_program};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Can programs be watched here at all?
///
/// # Errors
/// Why not.
pub fn available() -> Result<(), ProgramError> {
    os::program::available()
}

/// Can this command be started, as far as can be seen without starting it?
///
/// # Errors
/// Why not.
pub fn startable(command: &[String]) -> Result<(), ProgramError> {
    let Some(program) = command.first() else { return Err(nothing_given()) };
    let not_started = |reason: &str| Err(ProgramError::NotStarted(program.clone(), reason.to_owned()));
    if program.chars().any(std::path::is_separator) {
        match os::spawn::fault(Path::new(program)) {
            None => Ok(()),
            Some(SpawnError::NotExecutable(_, why)) => not_started(&why),
            Some(SpawnError::Permission(_)) => not_started("permission denied"),
            Some(_) => not_started("there is no such program"),
        }
    } else if find_program(program, &[]).is_some() {
        Ok(())
    } else {
        not_started("no folder of PATH has such a program")
    }
}

fn nothing_given() -> ProgramError {
    ProgramError::NotStarted(String::new(), "no command was given".into())
}

/// A program that is watched.
#[derive(Debug)]
pub struct Watched(os::program::Watched);

impl Watched {
    /// Begins to watch a process, with those it has started if `children`.
    ///
    /// # Errors
    /// It is not there, not visible, or no program.
    pub fn begin(pid: u32, children: bool) -> Result<Self, ProgramError> {
        os::program::Watched::begin(pid, children, false).map(Self)
    }

    /// Starts a command, with the caller's standard streams, and watches it from its first moment.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(command: &[String], children: bool) -> Result<Self, ProgramError> {
        available()?;
        let [program, arguments @ ..] = command else {
            return Err(nothing_given());
        };
        let child = Command::new(program).args(arguments).stdin(Stdio::inherit()).spawn().map_err(|error| {
            let text = error.to_string();
            let cause = text.split(" (os error").next().unwrap_or_default().to_lowercase();
            ProgramError::NotStarted(program.clone(), cause)
        })?;
        let mut watched = os::program::Watched::begin(child.id(), children, true)?;
        watched.own(child);
        Ok(Self(watched))
    }

    /// Looks at every thread. False: the program is gone.
    pub fn sample(&mut self) -> bool {
        self.0.sample()
    }

    /// CPU time of the most expensive look so far.
    #[must_use]
    pub fn cost_of_sample(&self) -> Duration {
        self.0.cost_of_sample()
    }

    /// Waits without using the CPU.
    #[must_use]
    pub fn wait(&self, until: Instant, interrupt: Option<&Interrupt>) -> Woken {
        self.0.wait(until, interrupt)
    }

    /// Ends a command that was started, if it still runs; takes its exit status and the sums that the kernel kept of it. None: it was not
    /// started here.
    pub fn conclude(&mut self, kill: bool) -> Option<ExitStatus> {
        self.0.conclude(kill)
    }

    /// What was seen so far.
    #[must_use]
    pub fn observed(&self) -> Observed {
        self.0.observed()
    }
}
