//! What is started, what is heard of it, and how it ends.

use crate::cause::cause;
use crate::load::HogPlan;
use crate::os;
use std::path::{Path, PathBuf};
use switchcost_model::Capabilities;

/// The variable that names a place for what a child makes outside of its own memory. What is there
/// after its end is removed, so that nothing is left where whoever should have removed it was
/// killed.
pub const SCRATCH: &str = "SWITCHCOST_SCRATCH";

/// What to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpawnRequest {
    /// A name without a slash is looked up in the `PATH` of `environment`; a relative path starts
    /// at `directory`.
    pub program: PathBuf,
    /// Arguments after the program's name.
    pub arguments: Vec<String>,
    /// The complete environment: nothing is inherited.
    pub environment: Vec<(String, String)>,
    /// CPUs of the child, all of them granted or the start fails; None: those of the calling
    /// thread.
    pub cpus: Option<Vec<u32>>,
    /// Working directory; None: the host's.
    pub directory: Option<PathBuf>,
    /// What it keeps of the host's rights as root, where the host has any and may give them up; on
    /// other systems than Linux everything.
    pub capabilities: Capabilities,
    /// Tasks that want the CPU beside it, asleep until [`super::Child::release_hogs`]; None where
    /// the system is not Linux.
    pub hogs: Option<HogPlan>,
    /// ns by which the kernel may end its sleeps late to save wake-ups; None: as it is for programs
    /// here, 50 µs on Linux.
    pub timer_slack_ns: Option<u32>,
    /// Descriptor number on which the child reports: 3 or higher; on Windows 1, since no other
    /// reaches a program of whatever language.
    pub report_fd: i32,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitStatus {
    /// It returned this status.
    Exited(i32),
    /// This signal killed it.
    Signalled(i32),
    /// Nobody could learn it: somebody else has reaped the process, or it does not end though it
    /// was killed.
    Unknown,
}

/// What a child let hear.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heard {
    /// The next bytes of its report.
    Report(Vec<u8>),
    /// Everybody has closed the report.
    Closed,
    /// The next bytes of what it prints.
    Printed(Vec<u8>),
    /// Nothing until the time was up.
    Time,
    /// The user wants to stop.
    Interrupted,
}

/// What a child used, with its descendants as far as somebody waited for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Used {
    /// CPU time in user mode and in the kernel, ns (the kernel reports whole µs).
    pub cpu_ns: u64,
    /// Switches because it waited.
    pub voluntary: u64,
    /// Switches because the CPU was taken from it.
    pub involuntary: u64,
    /// Largest resident set of any one process, bytes.
    pub max_rss: u64,
    /// Page faults, minor and major; None: the system does not tell.
    pub page_faults: Option<u64>,
}

/// What is known of an ended child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exit {
    /// How it ended.
    pub status: ExitStatus,
    /// What it used; None: nobody could learn it, which is not nothing.
    pub used: Option<Used>,
    /// CPU time of the hogs beside it, in either mode, ns.
    pub beside_ns: u64,
    /// Processes that had left the group or lost their parent, and were killed (see
    /// [`adopt_orphans`]), and any, the program itself included, that had not ended two seconds
    /// after they were killed: what they used is not known, and they are reaped when they end.
    pub strays: u32,
}

/// Why a program could not be started: one sentence that names file and cause.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// There is no such file.
    #[error("{} does not exist", .0.display())]
    NotFound(PathBuf),
    /// No directory of `PATH` has it.
    #[error("{} is in none of the directories of PATH", .0.display())]
    NotInPath(PathBuf),
    /// It is there, but is not a program.
    #[error("{} is not executable: {}", .0.display(), .1)]
    NotExecutable(PathBuf, String),
    /// It may not be looked at or started.
    #[error("{} may not be started: permission denied", .0.display())]
    Permission(PathBuf),
    /// Root does not start it, see [`crate::root_may_run`].
    #[error("{0}")]
    NotTrusted(String),
    /// The working directory is not there or may not be entered.
    #[error("the working directory {} of {} cannot be entered: {}", .1.display(), .0.display(), .2)]
    Directory(PathBuf, PathBuf, String),
    /// The CPUs asked for are not all granted.
    #[error("{} cannot be put on CPU {}: not all of them exist here and are allowed by the cgroup's cpuset", .0.display(), .1)]
    Cpus(PathBuf, String),
    /// Nothing can be made in the folder for temporary files.
    #[error("the folder for temporary files, {}, cannot be written to ({}); set TMPDIR to one that can", .0.display(), .1)]
    Scratch(PathBuf, String),
    /// Anything else.
    #[error("{} cannot be started: {}", .0.display(), .1)]
    Other(PathBuf, String),
}

/// The program's file, or why it cannot be one. `fault`: why a file cannot be started.
#[cfg_attr(not(any(target_os = "linux", windows)), expect(dead_code, reason = "nothing is started"))]
pub(crate) fn resolve(
    request: &SpawnRequest,
    fault: impl Fn(&Path) -> Option<SpawnError>,
) -> Result<PathBuf, SpawnError> {
    let program = &request.program;
    if let Some(directory) = &request.directory
        && let Err(error) = std::fs::read_dir(directory).map(drop)
        && error.kind() != std::io::ErrorKind::PermissionDenied
    {
        return Err(SpawnError::Directory(program.clone(), directory.clone(), cause(&error)));
    }
    if program.components().count() == 1 && !program.to_string_lossy().contains(std::path::is_separator) {
        let path = request.environment.iter().find(|(name, _)| name == "PATH").map_or("", |(_, value)| value);
        let found = std::env::split_paths(path).map(|dir| dir.join(program)).find(|file| fault(file).is_none());
        return found.ok_or_else(|| SpawnError::NotInPath(program.clone())).and_then(trusted);
    }
    let base = request.directory.as_deref().unwrap_or(Path::new("."));
    let file = std::path::absolute(base.join(program)).map_err(|e| SpawnError::Other(program.clone(), cause(&e)))?;
    match fault(&file) {
        Some(error) => Err(error),
        None => trusted(file),
    }
}

/// A program that may be started, if root may.
#[cfg_attr(not(any(target_os = "linux", windows)), expect(dead_code, reason = "nothing is started"))]
fn trusted(file: PathBuf) -> Result<PathBuf, SpawnError> {
    os::root_may_run(&file).map_err(SpawnError::NotTrusted).map(|()| file)
}
