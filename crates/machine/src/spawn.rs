//! Starting a probe so that nothing of the host leaks into it and nothing of it outlives the host.

mod request;

pub(crate) use request::resolve;
pub use request::{Exit, ExitStatus, Heard, SCRATCH, SpawnError, SpawnRequest, Used};

use crate::interrupt::Interrupt;
use crate::load::{Scheduled, Scheduling};
use crate::os;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::time::Instant;
use switchcost_model::{Capabilities, Obstacle, Tree};

/// The descriptor on which probes report here.
pub const REPORT_FD: i32 = os::spawn::REPORT_FD;

/// Variables without which no program works here; a start names what else it passes on.
pub const ENVIRONMENT: &[&str] = os::spawn::ENVIRONMENT;

/// Pieces that are read after the end at most.
const LAST_PIECES: usize = 16;

/// A path in the folder for temporary files at which nothing is, and that nobody can guess.
#[must_use]
pub fn scratch() -> PathBuf {
    let random = std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), Instant::now());
    std::env::temp_dir().join(format!("switchcost-{random:016x}"))
}

impl SpawnRequest {
    /// Another program than a probe, as a user starts it: with these variables of the host beside
    /// those without which nothing works, all rights, and the CPUs of the calling thread.
    #[must_use]
    pub fn of(program: impl Into<PathBuf>, arguments: Vec<String>, variables: &[&str]) -> Self {
        let names = ENVIRONMENT.iter().chain(variables);
        Self {
            program: program.into(),
            arguments,
            environment: names.filter_map(|name| Some(((*name).to_owned(), crate::environment(name)?))).collect(),
            cpus: None,
            directory: None,
            capabilities: Capabilities::ALL,
            hogs: None,
            timer_slack_ns: None,
            report_fd: REPORT_FD,
        }
    }
}

/// A started program, leader of its own process group. Dropping it kills and reaps the group.
///
/// A `Child` stays on the thread that started it: the kernel kills a child with `PR_SET_PDEATHSIG`
/// when the *thread* that started it ends, so that thread must outlive it, which the compiler sees
/// to.
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
    /// Starts it: own process group, standard input empty, standard output and error into one log,
    /// no descriptor but these and `report_fd`, signals as by default, on its CPUs before the
    /// program begins, killed when the host dies.
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

    /// Sleeps until the child reports or prints something, the user wants to stop or the time is
    /// reached. Takes no CPU time meanwhile, and takes no more from the child than it hands on: who
    /// prints much waits.
    pub fn listen(&mut self, until: Instant, interrupt: Option<&Interrupt>) -> Heard {
        self.running.listen(until, interrupt)
    }

    /// Listens to a program that knows nothing of the report until nobody is left to print, the
    /// user wants to stop or the time is reached, and says which. `take` gets what it prints, and
    /// answers until when to listen on.
    pub fn hear(
        &mut self,
        mut until: Instant,
        interrupt: Option<&Interrupt>,
        mut take: impl FnMut(Vec<u8>) -> Instant,
    ) -> Heard {
        let over = loop {
            match self.listen(until, interrupt) {
                Heard::Printed(bytes) | Heard::Report(bytes) => until = take(bytes),
                over => break over,
            }
        };
        // More than a pipe holds was printed later.
        for bytes in (0..LAST_PIECES).map_while(|_| self.printed()) {
            take(bytes);
        }
        over
    }

    /// What it has printed and nobody heard yet; None: nothing more for now.
    pub fn printed(&mut self) -> Option<Vec<u8>> {
        self.running.printed()
    }

    /// One look at the child and at all that descends from it, through files of the system: it is
    /// not stopped. `reported_pid` is the process id that it gave. For a few tasks it takes less
    /// than a millisecond; of large trees only the numbers of processes and tasks are complete (see
    /// [`Tree`]).
    ///
    /// None: the system shows nobody's tasks, or some of them ended or the child went on to report
    /// meanwhile, so that what was seen may be its end.
    #[must_use]
    pub fn task_tree(&self, reported_pid: u64) -> Option<Tree> {
        self.running.task_tree(reported_pid)
    }

    /// Program that traces it now and is none of its own; None: nobody, or the system does not
    /// tell.
    #[must_use]
    pub fn tracer(&self) -> Option<String> {
        self.running.tracer()
    }

    /// CPU time that it has used so far, ns; None: the system does not tell.
    #[must_use]
    pub fn cpu_ns(&self) -> Option<u64> {
        self.running.cpu_ns()
    }

    /// Wakes the hogs of the request.
    ///
    /// # Errors
    /// How many of them did not come to life as they were asked for.
    pub fn release_hogs(&self) -> Result<(), usize> {
        self.running.release_hogs()
    }

    /// CPU time that the hogs have used so far, ns.
    #[must_use]
    pub fn hogs_cpu_ns(&self) -> u64 {
        self.running.hogs_cpu_ns()
    }

    /// Somebody has stopped one of the hogs.
    #[must_use]
    pub fn hogs_are_stopped(&self) -> bool {
        self.running.hogs_are_stopped()
    }

    /// Ends the hogs, so that the probe is alone again.
    pub fn end_hogs(&self) {
        self.running.end_hogs();
    }

    /// Schedules all tasks of the child and of what descends from it so.
    ///
    /// # Errors
    /// Why the kernel refuses that for one of them.
    pub fn schedule(&self, scheduling: Scheduling) -> Result<(), String> {
        self.running.schedule(scheduling)
    }

    /// Ids of these tasks; none where the system does not tell.
    pub(crate) fn tasks(&self) -> std::collections::BTreeSet<i32> {
        self.running.tasks()
    }

    /// How these tasks are scheduled; None: the system does not tell.
    #[must_use]
    pub fn scheduled(&self) -> Option<Scheduled> {
        self.running.scheduled()
    }

    /// Sleeps until the program has ended or the time is reached. True: it has ended.
    #[must_use]
    pub fn wait_until(&self, deadline: Instant) -> bool {
        self.running.wait_until(Some(deadline))
    }

    /// Processes that live on once it has ended: those of its group, and those that left it and
    /// were adopted. What goes with it may take a moment, which is waited for. None: the system
    /// does not tell.
    #[must_use]
    pub fn left_behind(&self) -> Option<usize> {
        self.running.left_behind()
    }

    /// Sleeps until the program has ended by itself.
    pub fn wait(&self) {
        self.running.wait_until(None);
    }

    /// Sends SIGKILL to the whole group. Harmless when it has ended.
    pub fn kill_group(&self) {
        self.running.kill_group();
    }

    /// Ends it: kills what is left of the group *now*, reaps the program, and says how it ended.
    /// The status is the program's own if it had ended before; call [`Child::wait`] or
    /// [`Child::wait_until`] to let it.
    #[must_use]
    pub fn finish(mut self) -> Exit {
        self.running.end()
    }
}

/// Makes sure that a probe's process which left its group is found: orphaned descendants become
/// children of this process (`PR_SET_CHILD_SUBREAPER`), or, where the system refuses that, children
/// started from now on carry a mark in their environment, by which what they leave behind is known.
/// From then on every [`Child::finish`] also ends strays. Call it once.
pub fn adopt_orphans() {
    os::spawn::adopt_orphans();
}

/// Undoes what a parent may hand on over exec. If SIGCHLD is ignored, the kernel reaps children and
/// tells nobody how they ended. If signals are blocked, Ctrl-C is not heard. A timer ends the
/// program. To be called before there is another thread.
pub fn forget_inherited() {
    os::forget_inherited();
}

/// Tasks created on this machine since it was started; None where the system does not count them.
#[must_use]
pub fn tasks_created() -> Option<u64> {
    os::spawn::tasks_created()
}

/// Kills and reaps every child of this process that belongs to a foreign process group and to no
/// live [`Child`], and then their children, until there are none or two seconds are over. Returns
/// how many were killed.
///
/// Children that the host starts in its own group (`std::process::Command` does by default) are
/// left alone.
pub fn reap_strays() -> u32 {
    os::spawn::reap_strays()
}

/// Kills, with all that descends from them, the children that a thread has which is left at the end
/// of the program: the kernel would end their leaders only. Nobody can start one afterwards.
pub fn abandon() {
    os::spawn::abandon();
}

/// Why no program can run under callgrind here; None: it may, if valgrind is installed. Kits of
/// other processors do not mark their units for it.
#[must_use]
pub fn emulation_refusal() -> Option<Obstacle> {
    let known = cfg!(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")));
    (!known).then_some(Obstacle::NotEmulated)
}

/// Where a program is: in `PATH`, or in one of these folders.
#[must_use]
pub fn find_program(name: &str, folders: &[PathBuf]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(folders.iter().cloned());
    folders.map(|folder| folder.join(name)).find(|file| is_program(file))
}

/// Is this file a program, as far as can be seen without starting it?
#[must_use]
pub fn is_program(file: &Path) -> bool {
    os::spawn::fault(file).is_none()
}
