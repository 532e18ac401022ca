//! What the host can see of a probe's processes without asking the probe.

use crate::Tree;
use core::fmt;
use core::str::FromStr;

/// A fact that a rule asks for, and that the host's look counts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sight {
    /// Tasks of one process.
    Threads,
    /// Processes.
    Processes,
    /// Distinct address spaces.
    AddressSpaces,
    /// Distinct control groups.
    ControlGroups,
    /// Distinct namespaces of a kind.
    Namespaces(String),
    /// Tasks of a scheduling class.
    Class(String),
    /// Tasks whose indirect branches others cannot steer, because they asked for it.
    Guarded,
    /// Tasks whose system calls pass a filter.
    Filtered,
    /// Tasks that a task of the probe traces.
    Traced,
    /// MiB that all processes together have in memory.
    ResidentMib,
    /// Open files of a kind that the probe made itself.
    Files(String),
}

/// Kinds of namespaces, as `/proc/PID/ns` names them. That of time is left out: no mechanism makes
/// one, and older kernels have none.
pub const NAMESPACES: [&str; 7] = ["cgroup", "ipc", "mnt", "net", "pid", "user", "uts"];

/// Classes of the scheduler (sched(7)).
const CLASSES: [&str; 6] = ["other", "batch", "idle", "fifo", "rr", "deadline"];

/// Kinds of open files that a rule may ask for.
const FILES: [&str; 12] = [
    "pipe",
    "eventfd",
    "epoll",
    "signalfd",
    "timerfd",
    "io_uring",
    "io_uring_sqpoll",
    "unix_socket",
    "tcp_socket",
    "cpu_dma_latency",
    "seccomp_notify",
    "userfaultfd",
];

/// Open files of one kind that a rule may need at most: a look reads so many of a large ring and no
/// more.
const FILES_NEEDED: u64 = 128;

/// Processes that a context has at most: a sandbox of runsc is five. Beside more of them no context
/// hides.
const PROCESSES_OF_A_CONTEXT: u64 = 8;

/// What a look answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    /// The version that looked did not ask.
    NotAsked,
    /// The system does not tell.
    Unknown,
    /// So many.
    Is(u64),
}

impl From<Option<u64>> for Count {
    fn from(count: Option<u64>) -> Self {
        count.map_or(Self::Unknown, Self::Is)
    }
}

impl Sight {
    /// How many the look counted.
    #[must_use]
    pub fn count(&self, tree: &Tree) -> Count {
        let Some(facts) = &tree.facts else { return self.early(tree).unwrap_or(Count::NotAsked) };
        match self {
            Self::Class(class) => Count::Is(facts.classes.get(class).copied().unwrap_or(0)),
            Self::Guarded => facts.guarded.into(),
            Self::Filtered => facts.filtered.into(),
            Self::Traced => facts.traced.into(),
            Self::ResidentMib => facts.resident_mib.into(),
            Self::Files(kind) => facts.files.as_ref().map(|files| files.get(kind).copied().unwrap_or(0)).into(),
            _ => self.early(tree).unwrap_or(Count::Unknown),
        }
    }

    /// Those that every version looked for.
    fn early(&self, tree: &Tree) -> Option<Count> {
        Some(match self {
            Self::Threads => Count::Is(tree.most_tasks),
            Self::Processes => Count::Is(tree.processes),
            Self::AddressSpaces => tree.address_spaces.into(),
            Self::ControlGroups => tree.control_groups.into(),
            Self::Namespaces(kind) => tree.namespaces.get(kind).copied().into(),
            Self::Class(_) | Self::Guarded | Self::Filtered | Self::Traced | Self::ResidentMib | Self::Files(_) => {
                return None;
            }
        })
    }

    /// How many of those needed must be among what was looked at, if each of the others has one:
    /// nobody knows which of them are contexts.
    #[must_use]
    pub fn needed(&self, needed: u64, tree: &Tree) -> u64 {
        let crowded = tree.processes / PROCESSES_OF_A_CONTEXT > needed;
        let processes = if crowded { 0 } else { tree.processes.saturating_sub(tree.looked_at) };
        let unseen = match self {
            Self::Threads | Self::Processes | Self::ResidentMib => 0,
            Self::AddressSpaces | Self::ControlGroups | Self::Namespaces(_) => processes,
            Self::Class(_) | Self::Guarded | Self::Filtered | Self::Traced => {
                tree.tasks.saturating_sub(tree.facts.as_ref().map_or(0, |facts| facts.tasks))
            }
            // Each process may have its own.
            Self::Files(_) => return needed.saturating_sub(processes).min(FILES_NEEDED),
        };
        needed.saturating_sub(unseen)
    }

    /// In a sentence.
    #[must_use]
    pub fn what(&self) -> String {
        match self {
            Self::Threads => "threads in one process".to_owned(),
            Self::Processes => "processes".to_owned(),
            Self::AddressSpaces => "address spaces".to_owned(),
            Self::ControlGroups => "control groups".to_owned(),
            Self::Namespaces(kind) => format!("{kind} namespaces"),
            Self::Class(class) => format!("tasks of the scheduling class {class}"),
            Self::Guarded => "tasks with guarded indirect branches".to_owned(),
            Self::Filtered => "tasks whose system calls pass a filter".to_owned(),
            Self::Traced => "tasks that another task of the probe traces".to_owned(),
            Self::ResidentMib => "MiB in memory".to_owned(),
            Self::Files(kind) => format!("open files of the kind {kind}"),
        }
    }
}

/// As a page names it: `threads`, `namespaces.pid`, `class.fifo`, `files.pipe`.
impl fmt::Display for Sight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Threads => f.write_str("threads"),
            Self::Processes => f.write_str("processes"),
            Self::AddressSpaces => f.write_str("address_spaces"),
            Self::ControlGroups => f.write_str("control_groups"),
            Self::Namespaces(kind) => write!(f, "namespaces.{kind}"),
            Self::Class(class) => write!(f, "class.{class}"),
            Self::Guarded => f.write_str("guarded"),
            Self::Filtered => f.write_str("filtered"),
            Self::Traced => f.write_str("traced"),
            Self::ResidentMib => f.write_str("resident_mib"),
            Self::Files(kind) => write!(f, "files.{kind}"),
        }
    }
}

impl FromStr for Sight {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let plain = [
            Self::Threads,
            Self::Processes,
            Self::AddressSpaces,
            Self::ControlGroups,
            Self::Guarded,
            Self::Filtered,
            Self::Traced,
            Self::ResidentMib,
        ];
        let kinds = NAMESPACES.map(|kind| Self::Namespaces(kind.to_owned()));
        let classes = CLASSES.map(|class| Self::Class(class.to_owned()));
        let files = FILES.map(|kind| Self::Files(kind.to_owned()));
        let all: Vec<Self> = plain.into_iter().chain(kinds).chain(classes).chain(files).collect();
        let known = || all.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let found = all.iter().find(|sight| sight.to_string() == word).cloned();
        found.ok_or_else(|| format!("seen: unknown `{}`; expected one of {}", crate::harmless(word), known()))
    }
}
