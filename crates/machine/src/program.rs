//! A running program's switches, read from `/proc`: nothing is attached to it, and one's own
//! programs need no privilege.

mod observed;

pub use observed::{Observed, ProgramError, Service, ThreadSeen, Woken};

use crate::interrupt::Interrupt;
use crate::os;
use crate::spawn::{ExitStatus, SpawnError, find_program};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// ENOEXEC, on every Unix.
const NO_FORMAT: i32 = 8;

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
            None if starts(program) => Ok(()),
            None => not_started("its format is not one of this machine's"),
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

/// The file is text, or of a format that the kernel, or a helper which it was told of
/// (binfmt_misc), starts.
fn starts(program: &str) -> bool {
    let mut magic = [0; 4];
    let read = std::fs::File::open(program).and_then(|mut file| std::io::Read::read(&mut file, &mut magic));
    let helpers = std::fs::read_dir("/proc/sys/fs/binfmt_misc").map_or(0, std::iter::Iterator::count);
    // Two entries are always there: `register` and `status`. A program that cannot be read may
    // still start; then starting it tells.
    cfg!(not(target_os = "linux")) || read.is_err() || magic == *b"\x7fELF" || helpers > 2 || script(program).is_some()
}

/// The file of this program, if it is text.
fn script(program: &str) -> Option<PathBuf> {
    let path = Path::new(program);
    let file = if program.contains('/') { path.to_owned() } else { find_program(program, &[])? };
    let mut start = [0; 80];
    let read = std::fs::File::open(&file).and_then(|mut open| std::io::Read::read(&mut open, &mut start)).ok()?;
    let line = start[..read].split(|byte| *byte == b'\n').next()?;
    (!line.contains(&0)).then_some(file)
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

    /// Begins to watch all processes of a control group, those that come and go as well.
    ///
    /// # Errors
    /// There is none such, or nothing in it.
    pub fn service(service: &Service) -> Result<Self, ProgramError> {
        os::program::Watched::service(service).map(Self)
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
        let spawned = |mut command: Command| command.args(arguments).stdin(Stdio::inherit()).spawn();
        let spawn = spawned(Command::new(program)).or_else(|error| match script(program) {
            // As execvp(3) and every shell do with a script that names no interpreter.
            Some(file) if error.raw_os_error() == Some(NO_FORMAT) => {
                let mut shell = Command::new("/bin/sh");
                shell.arg(file);
                spawned(shell)
            }
            _ => Err(error),
        });
        let child = spawn.map_err(|error| {
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

    /// Ends a command that was started, if it still runs; takes its exit status and the sums that
    /// the kernel kept of it. None: it was not started here.
    pub fn conclude(&mut self, kill: bool) -> Option<ExitStatus> {
        self.0.conclude(kill)
    }

    /// What was seen so far.
    #[must_use]
    pub fn observed(&self) -> Observed {
        self.0.observed()
    }
}
