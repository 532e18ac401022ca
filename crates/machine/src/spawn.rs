//! Starting a probe so that nothing of the host leaks into it and nothing of it outlives the host.

use crate::interrupt::Interrupt;
use crate::{cause, os};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::time::Instant;
use switchcost_model::{Capabilities, Tree};

/// The descriptor on which probes report here.
pub const REPORT_FD: i32 = os::spawn::REPORT_FD;

/// Variables without which no program works here; a start names what else it passes on.
pub const ENVIRONMENT: &[&str] = os::spawn::ENVIRONMENT;

/// The variable that names a place for what a child makes outside of its own memory. What is there after its end is removed, so that nothing is left
/// where whoever should have removed it was killed.
pub const SCRATCH: &str = "SWITCHCOST_SCRATCH";

/// A path in the folder for temporary files at which nothing is, and that nobody can guess.
#[must_use]
pub fn scratch() -> PathBuf {
    let random = std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), Instant::now());
    std::env::temp_dir().join(format!("switchcost-{random:016x}"))
}

/// What to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpawnRequest {
    /// A name without a slash is looked up in the `PATH` of `environment`; a relative path starts at `directory`.
    pub program: PathBuf,
    /// Arguments after the program's name.
    pub arguments: Vec<String>,
    /// The complete environment: nothing is inherited.
    pub environment: Vec<(String, String)>,
    /// CPUs of the child, all of them granted or the start fails; None: those of the calling thread.
    pub cpus: Option<Vec<u32>>,
    /// Working directory; None: the host's.
    pub directory: Option<PathBuf>,
    /// What it keeps of the host's rights as root, where the host has any and may give them up; on other systems than Linux everything.
    pub capabilities: Capabilities,
    /// Descriptor number on which the child reports: 3 or higher; on Windows 1, since no other reaches a program of whatever language.
    pub report_fd: i32,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitStatus {
    /// It returned this status.
    Exited(i32),
    /// This signal killed it.
    Signalled(i32),
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

/// What is known of an ended child. The figures include its descendants as far as somebody waited for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exit {
    /// How it ended.
    pub status: ExitStatus,
    /// CPU time in user mode, ns (the kernel reports whole µs).
    pub user_ns: u64,
    /// CPU time in the kernel, ns (the kernel reports whole µs).
    pub system_ns: u64,
    /// Switches because it waited.
    pub voluntary: u64,
    /// Switches because the CPU was taken from it.
    pub involuntary: u64,
    /// Largest resident set of any one process, bytes.
    pub max_rss: u64,
    /// Processes that had left the group or lost their parent, and were killed (see [`adopt_orphans`]), and any, the program itself included, that had
    /// not ended two seconds after they were killed: what they used is not known, and they are reaped when they end.
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
    /// The working directory is not there or may not be entered.
    #[error("the working directory {} of {} cannot be entered: {}", .1.display(), .0.display(), .2)]
    Directory(PathBuf, PathBuf, String),
    /// The CPUs asked for are not all granted.
    #[error("{} cannot be put on CPU {}: not all of them exist here and are allowed by the cgroup's cpuset", .0.display(), .1)]
    Cpus(PathBuf, String),
    /// Anything else.
    #[error("{} cannot be started: {}", .0.display(), .1)]
    Other(PathBuf, String),
}

/// A started program, leader of its own process group. Dropping it kills and reaps the group.
///
/// A `Child` stays on the thread that started it: the kernel kills a child with `PR_SET_PDEATHSIG` when the *thread*
/// that started it ends, so that thread must outlive it, which the compiler sees to.
///
/// ```compile_fail
/// fn may_move<T: Send>() {}
/// may_move::<switchcost_machine::spawn::Child>();
/// ```
#[derive(Debug)]
pub struct Child {
    running: os::spawn::Running,
    stays_on_its_thread: PhantomData<*const ()>,
}

impl Child {
    /// Starts it: own process group, standard input empty, standard output and error into one log, no descriptor but
    /// these and `report_fd`, signals as by default, on its CPUs before the program begins, killed when the host dies.
    ///
    /// # Errors
    /// Why it could not be started.
    pub fn start(request: &SpawnRequest) -> Result<Self, SpawnError> {
        let running = os::spawn::Running::start(request)?;
        Ok(Self { running, stays_on_its_thread: PhantomData })
    }

    /// Process id, and id of its group.
    #[must_use]
    pub fn pid(&self) -> i32 {
        self.running.pid()
    }

    /// Sleeps until the child reports or prints something, the user wants to stop or the time is reached. Takes no CPU time meanwhile, and takes no
    /// more from the child than it hands on: who prints much waits.
    pub fn listen(&mut self, until: Instant, interrupt: Option<&Interrupt>) -> Heard {
        self.running.listen(until, interrupt)
    }

    /// What it has printed and nobody heard yet; None: nothing more for now.
    pub fn printed(&mut self) -> Option<Vec<u8>> {
        self.running.printed()
    }

    /// One look at the child and at all that descends from it, through files of the system: it is not stopped. `reported_pid` is the process id that it
    /// gave. For a few tasks it takes less than a millisecond; of large trees only the numbers of processes and tasks are complete (see [`Tree`]).
    ///
    /// None: the system shows nobody's tasks, or some of them ended or the child went on to report meanwhile, so that what was seen may be its end.
    #[must_use]
    pub fn task_tree(&self, reported_pid: u64) -> Option<Tree> {
        self.running.task_tree(reported_pid)
    }

    /// Sleeps until the program has ended or the time is reached. True: it has ended.
    #[must_use]
    pub fn wait_until(&self, deadline: Instant) -> bool {
        self.running.wait_until(Some(deadline))
    }

    /// Processes that live on once it has ended: those of its group, and those that left it and were adopted. What goes with it may take a moment, which is
    /// waited for. None: the system does not tell.
    #[must_use]
    pub fn company(&self) -> Option<usize> {
        self.running.company()
    }

    /// Sleeps until the program has ended by itself.
    pub fn wait(&self) {
        self.running.wait_until(None);
    }

    /// Sends SIGKILL to the whole group. Harmless when it has ended.
    pub fn kill_group(&self) {
        self.running.kill_group();
    }

    /// Ends it: kills what is left of the group *now*, reaps the program, and says how it ended. The status is the
    /// program's own if it had ended before; call [`Child::wait`] or [`Child::wait_until`] to let it.
    #[must_use]
    pub fn finish(mut self) -> Exit {
        self.running.end()
    }
}

/// Makes sure that a probe's process which left its group is found: orphaned descendants become children of this process
/// (`PR_SET_CHILD_SUBREAPER`), or, where the system refuses that, children started from now on carry a mark in their environment, by which
/// what they leave behind is known. From then on every [`Child::finish`] also ends strays. Call it once.
pub fn adopt_orphans() {
    os::spawn::adopt_orphans();
}

/// Tasks created on this machine since it was started; None where the system does not count them.
#[must_use]
pub fn tasks_created() -> Option<u64> {
    os::spawn::tasks_created()
}

/// Kills and reaps every child of this process that belongs to a foreign process group and to no live [`Child`],
/// and then their children, until there are none or two seconds are over. Returns how many were killed.
///
/// Children that the host starts in its own group (`std::process::Command` does by default) are left alone.
pub fn reap_strays() -> u32 {
    os::spawn::reap_strays()
}

/// Is this file a program, as far as can be seen without starting it?
#[must_use]
pub fn is_program(file: &Path) -> bool {
    os::spawn::fault(file).is_none()
}

/// The program's file, or why it cannot be one.
#[cfg_attr(not(any(target_os = "linux", windows)), expect(dead_code, reason = "nothing is started"))]
pub(crate) fn resolve(request: &SpawnRequest) -> Result<PathBuf, SpawnError> {
    let program = &request.program;
    if let Some(directory) = &request.directory
        && let Err(error) = std::fs::read_dir(directory).map(drop)
        && error.kind() != std::io::ErrorKind::PermissionDenied
    {
        return Err(SpawnError::Directory(program.clone(), directory.clone(), cause(&error)));
    }
    if program.components().count() == 1 && !program.to_string_lossy().contains(std::path::is_separator) {
        let path = request.environment.iter().find(|(name, _)| name == "PATH").map_or("", |(_, value)| value);
        let found =
            std::env::split_paths(path).map(|dir| dir.join(program)).find(|file| os::spawn::fault(file).is_none());
        return found.ok_or_else(|| SpawnError::NotInPath(program.clone()));
    }
    let base = request.directory.as_deref().unwrap_or(Path::new("."));
    let file = std::path::absolute(base.join(program)).map_err(|e| SpawnError::Other(program.clone(), cause(&e)))?;
    match os::spawn::fault(&file) {
        Some(error) => Err(error),
        None => Ok(file),
    }
}
