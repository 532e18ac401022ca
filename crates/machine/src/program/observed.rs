//! What was seen of a running program's switches, what ended a wait for more, and why nothing can
//! be seen.

use std::collections::BTreeMap;
use std::time::Duration;

/// Why a program cannot be watched, as one sentence with its cure.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProgramError {
    /// There is none with this id.
    #[error("--pid {0}: there is no such process; `ps` or `pgrep NAME` shows those there are")]
    Gone(u32),
    /// It exists, but not for this user's eyes.
    #[error(
        "--pid {0}: the process exists, but /proc does not show it to you (mounted with hidepid); run this as the process's user or as root"
    )]
    Hidden(u32),
    /// It runs no program.
    #[error("--pid {0}: {1} is a thread of the kernel, not a program; name the program that keeps it busy")]
    Kernel(u32, String),
    /// A zombie.
    #[error(
        "--pid {0}: {1} has ended and only waits for its parent to take notice; there is nothing to watch any more"
    )]
    Ended(u32, String),
    /// No control group, unit or container is called so, or nothing runs in it.
    #[error("{0}: {1}")]
    NoGroup(String, String),
    /// Not this system.
    #[error("{0}")]
    Unsupported(String),
    /// The command cannot be started.
    #[error("`{0}` cannot be started: {1}; check its name and permissions")]
    NotStarted(String, String),
}

/// Processes that a control group holds together, by what the user calls it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Service {
    /// Folder of the group, or its name as in `/proc/PID/cgroup`.
    Cgroup(String),
    /// A unit of systemd; without an ending it is a service.
    Unit(String),
    /// A container's name, or the beginning of its id.
    Container(String),
}

impl Service {
    /// What it is called.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Cgroup(name) | Self::Unit(name) | Self::Container(name) => name,
        }
    }
}

/// The option that names it.
impl std::fmt::Display for Service {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let option = match self {
            Self::Cgroup(_) => "--cgroup",
            Self::Unit(_) => "--unit",
            Self::Container(_) => "--container",
        };
        write!(f, "{option} {}", self.name())
    }
}

/// What ended a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Woken {
    /// The time was up.
    Time,
    /// The program has ended.
    Ended,
    /// The user wants to stop.
    Interrupted,
}

/// One thread of a program between two looks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ThreadSeen {
    /// Process id.
    pub process: u32,
    /// Thread id.
    pub thread: u32,
    /// The kernel's name of it.
    pub name: String,
    /// The name of its process, where those of several programs are watched; else nothing.
    pub program: String,
    /// Switches because it blocked or slept.
    pub voluntary: u64,
    /// Switches because another was let run although it could have gone on.
    pub involuntary: u64,
    /// CPU time, ns; None where the kernel does not tell.
    pub cpu_ns: Option<u64>,
    /// Number of looks at which it was last seen on each CPU.
    pub cpus: BTreeMap<u32, u32>,
    /// Number of looks at which it waited in each function of the kernel.
    pub channels: BTreeMap<String, u32>,
    /// It was gone at a later look: what it did after the last one that saw it is not in here.
    pub ended: bool,
}

impl ThreadSeen {
    /// All switches.
    #[must_use]
    pub fn switches(&self) -> u64 {
        self.voluntary + self.involuntary
    }
}

/// A program watched for some time.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Observed {
    /// Its name.
    pub program: String,
    /// Its first process; of a control group 0.
    pub process: u32,
    /// Processes of a control group that were seen; None: it is not one.
    pub processes: Option<usize>,
    /// For how long.
    pub wall: Duration,
    /// Its threads, in no order that matters.
    pub threads: Vec<ThreadSeen>,
    /// Interrupts that CPUs of the whole machine sent each other, as they do to wake one that is
    /// idle; None where the kernel does not tell.
    pub wake_interrupts: Option<u64>,
    /// CPU time of its processes with all their threads, dead ones too; ns, in steps of 10 ms.
    pub group_cpu_ns: Option<u64>,
    /// Switches of all its threads, dead ones too: voluntary, involuntary. Known only of a command
    /// that has ended.
    pub totals: Option<(u64, u64)>,
    /// Looks taken.
    pub samples: u32,
    /// CPU time that looking cost, ns.
    pub own_cpu_ns: u64,
    /// The program ended before its time was up.
    pub ended: bool,
    /// What could not be seen, one sentence each.
    pub blind: Vec<String>,
}

impl Observed {
    /// What happened since an earlier state of the same watch. What threads wait for and where they
    /// ran stay those of the whole watch: a single look tells too little.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let before = |thread: &ThreadSeen| {
            earlier.threads.iter().find(|other| (other.process, other.thread) == (thread.process, thread.thread))
        };
        let risen = |now: Option<u64>, then: Option<u64>| Some(now?.saturating_sub(then?));
        let change = |thread: &ThreadSeen| {
            let then = before(thread);
            ThreadSeen {
                voluntary: thread.voluntary - then.map_or(0, |then| then.voluntary),
                involuntary: thread.involuntary - then.map_or(0, |then| then.involuntary),
                cpu_ns: risen(thread.cpu_ns, then.map_or(Some(0), |then| then.cpu_ns)),
                ..thread.clone()
            }
        };
        // Threads that had ended before have no part in it.
        let there = |thread: &&ThreadSeen| before(thread).is_none_or(|then| !then.ended);
        Self {
            wall: self.wall.saturating_sub(earlier.wall),
            threads: self.threads.iter().filter(there).map(change).collect(),
            wake_interrupts: risen(self.wake_interrupts, earlier.wake_interrupts),
            group_cpu_ns: risen(self.group_cpu_ns, earlier.group_cpu_ns),
            samples: self.samples - earlier.samples,
            own_cpu_ns: self.own_cpu_ns - earlier.own_cpu_ns,
            ..self.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thread(id: u32, voluntary: u64, ended: bool) -> ThreadSeen {
        let channels = [("pipe_read".to_owned(), 3)].into();
        ThreadSeen {
            thread: id,
            voluntary,
            involuntary: 2 * voluntary,
            cpu_ns: Some(voluntary),
            channels,
            ended,
            ..ThreadSeen::default()
        }
    }

    #[test]
    fn a_part_of_a_watch_is_the_difference_of_two_states() {
        let state = |seconds, interrupts, threads: Vec<ThreadSeen>| Observed {
            wall: Duration::from_secs(seconds),
            threads,
            wake_interrupts: Some(interrupts),
            ..Observed::default()
        };
        let earlier = state(5, 70, vec![thread(1, 10, false), thread(2, 40, true)]);
        let now = state(6, 90, vec![thread(1, 25, false), thread(2, 40, true), thread(3, 4, false)]);
        let part = now.since(&earlier);
        assert_eq!((part.wall.as_secs(), part.wake_interrupts), (1, Some(20)));
        let counts = |t: &ThreadSeen| (t.thread, t.voluntary, t.involuntary, t.cpu_ns, t.channels["pipe_read"]);
        // The one that had ended is left out; the new one counts from its birth.
        assert_eq!(
            part.threads.iter().map(counts).collect::<Vec<_>>(),
            [(1, 15, 30, Some(15), 3), (3, 4, 8, Some(4), 3)]
        );
    }
}
