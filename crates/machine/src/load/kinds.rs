//! How tasks are scheduled, and what is put beside a probe.

use std::collections::BTreeSet;

/// A class of the kernel's scheduler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// SCHED_OTHER.
    Other,
    /// SCHED_BATCH: does not preempt who wakes it.
    Batch,
    /// SCHED_IDLE: what is left over.
    Idle,
    /// SCHED_FIFO with priority 1.
    Fifo,
    /// SCHED_RR with priority 1.
    Rr,
    /// SCHED_DEADLINE.
    Deadline,
}

impl Class {
    /// Each with its word.
    const WORDS: [(Self, &'static str); 6] = [
        (Self::Other, "other"),
        (Self::Batch, "batch"),
        (Self::Idle, "idle"),
        (Self::Fifo, "fifo"),
        (Self::Rr, "rr"),
        (Self::Deadline, "deadline"),
    ];

    /// Its word.
    #[must_use]
    pub fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(class, _)| *class == self).map_or("", |(_, word)| word)
    }

    /// The class of this word.
    #[must_use]
    pub fn of(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(_, known)| *known == word).map(|(class, _)| *class)
    }
}

/// How a task is scheduled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scheduling {
    /// Its class.
    pub class: Class,
    /// Its nice value.
    pub nice: i32,
    /// Slice of the fair classes, ns; 0: the kernel's own. Of DEADLINE its period, of which it may
    /// run a tenth.
    pub slice_ns: u64,
}

impl Scheduling {
    /// As a task is that nobody changed.
    pub const USUAL: Self = Self { class: Class::Other, nice: 0, slice_ns: 0 };
}

/// Hogs of one start, at most.
pub const MOST_HOGS: usize = 1000;

/// Hogs of one start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HogPlan {
    /// CPUs that they share out, one after the other.
    pub cpus: Vec<u32>,
    /// Hogs of each CPU, pinned there.
    pub each: u32,
    /// They fork a child that ends at once, wait for it and sleep a while, again and again;
    /// otherwise they compute.
    pub forking: bool,
    /// How they are scheduled.
    pub scheduling: Scheduling,
}

/// What the host saw of how the tasks of a probe are scheduled.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Scheduled {
    /// Words of their classes; one that the kernel names by a number stands as that.
    pub classes: BTreeSet<String>,
    /// Their nice values.
    pub nices: BTreeSet<i32>,
    /// Their slices, ns; 0: the kernel's own, or not told.
    pub slices_ns: BTreeSet<u64>,
    /// Where in the kernel they wait.
    pub channels: BTreeSet<String>,
    /// Time that they have waited for a CPU so far, ns; None: the kernel does not count it.
    pub waited_ns: Option<u64>,
}
