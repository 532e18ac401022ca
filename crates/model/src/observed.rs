//! What was seen of a running program's switches, and what a switch of each kind is priced by.

use crate::Wanted;
use std::collections::BTreeMap;
use std::time::Duration;

/// One thread of a program between two looks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ThreadSeen {
    /// Process id.
    pub process: u32,
    /// Thread id.
    pub thread: u32,
    /// The kernel's name of it.
    pub name: String,
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
    /// CPUs that it may use.
    pub allowed_cpus: u32,
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
    /// Its first process.
    pub process: u32,
    /// For how long.
    pub wall: Duration,
    /// Its threads, in no order that matters.
    pub threads: Vec<ThreadSeen>,
    /// Interrupts that CPUs of the whole machine sent each other, as they do to wake one that is idle; None where the kernel does not tell.
    pub wake_interrupts: Option<u64>,
    /// CPU time of its processes with all their threads, dead ones too; ns, in steps of 10 ms.
    pub group_cpu_ns: Option<u64>,
    /// Switches of all its threads, dead ones too: voluntary, involuntary. Known only of a command that has ended.
    pub totals: Option<(u64, u64)>,
    /// Looks taken.
    pub looks: u32,
    /// CPU time that looking cost, ns.
    pub own_cpu_ns: u64,
    /// The program ended before its time was up.
    pub ended: bool,
    /// What could not be seen, one sentence each.
    pub blind: Vec<String>,
}

/// What happens at a switch, as far as it makes a difference to its cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SwitchKind {
    /// A thread wakes another, which runs on the same CPU.
    SameCpu,
    /// A thread is woken on another CPU, which was idle and had to be interrupted.
    IdleCpu,
    /// A thread sleeps until a timer ends.
    Timer,
    /// A thread loses its CPU to another that did not wait for it.
    Preempted,
}

impl SwitchKind {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::SameCpu, Self::IdleCpu, Self::Timer, Self::Preempted];

    /// The word of the data file and of the output.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SameCpu => "same_cpu",
            Self::IdleCpu => "idle_cpu",
            Self::Timer => "timer",
            Self::Preempted => "preempted",
        }
    }
}

/// Which measurement stands for which switches of a program.
#[derive(Debug, Clone, PartialEq)]
pub struct PriceRule {
    /// Kind of the switch.
    pub kind: SwitchKind,
    /// Functions of the kernel in which the thread waits, a final `*` standing for any rest; empty: any.
    pub channels: Vec<String>,
    /// What is measured instead.
    pub wanted: Wanted,
    /// The wall time of its unit is the delay until the woken thread runs.
    pub unit_is_delay: bool,
    /// Why this one.
    pub why: String,
}

impl PriceRule {
    /// Is it the one for threads that wait there?
    #[must_use]
    pub fn takes(&self, channel: &str) -> bool {
        self.channels.is_empty()
            || self.channels.iter().any(|pattern| match pattern.strip_suffix('*') {
                Some(beginning) => channel.starts_with(beginning),
                None => channel == pattern,
            })
    }
}
