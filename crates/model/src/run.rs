//! Stored things: invocations, machines, runs.

use crate::id::words;
use crate::{Disturbance, Finding, IdError, Judgement, Reason, Request, Seen, Transcript, Variant};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// Why a run stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EndedBy {
    /// Still going on, or killed before it could say.
    Unfinished,
    /// Every interval is below the target.
    Precision,
    /// The asked number of rounds is done.
    Rounds,
    /// The time budget is used up.
    Budget,
    /// The user stopped it.
    Interrupt,
    /// Nothing was left that could be measured.
    Nothing,
}
words!(EndedBy, "end of a run", Unfinished => "unfinished", Precision => "precision", Rounds => "rounds",
    Budget => "budget", Interrupt => "interrupt", Nothing => "nothing");

impl EndedBy {
    /// Something is left that could be measured: the run stopped before its planned end.
    #[must_use]
    pub fn resumable(self) -> bool {
        match self {
            Self::Unfinished | Self::Budget | Self::Interrupt => true,
            Self::Precision | Self::Rounds | Self::Nothing => false,
        }
    }
}

/// How the probe's process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ProcessEnd {
    /// Exit status.
    Exited(i32),
    /// Killed by this signal (not by the host).
    Signalled(i32),
    /// Killed by the host at the deadline.
    Deadline,
    /// Killed by the host because the transcript broke a rule.
    Stopped,
    /// Could not be started.
    #[default]
    NotStarted,
    /// Nobody could learn it.
    Unknown,
}

/// One start of a probe for one variant.
#[derive(Debug, Clone, PartialEq)]
pub struct Invocation {
    /// Index into the run's variants.
    pub variant: usize,
    /// Round, from 0.
    pub round: u64,
    /// Position in the run's order of execution, from 0.
    pub sequence: u64,
    /// Start, ns since 1970 UTC.
    pub started_unix_ns: i64,
    /// From start of the process to its end, ns.
    pub wall_ns: u64,
    /// CPUs of the contexts; empty: free.
    pub cpus: Vec<u32>,
    /// Bytes of padding put into the environment (layout randomisation).
    pub environment_padding: u64,
    /// Largest resident set of any one of its processes, bytes, as the kernel told at its end; 0 if
    /// it never started, or nobody could learn it.
    pub peak_rss_bytes: u64,
    /// How the process ended.
    pub process: ProcessEnd,
    /// What it said.
    pub transcript: Transcript,
    /// What the host saw of it by itself; None where it never started, and in runs of versions that
    /// did not look.
    pub seen: Option<Seen>,
    /// What the host concluded.
    pub judgement: Judgement,
    /// What disturbed it; a disturbed invocation is left out of statistics if enough others remain.
    pub disturbances: Vec<Disturbance>,
    /// Tail of what it printed on stdout and stderr, bounded.
    pub log: String,
}

/// The machine's fingerprint.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Machine {
    /// Facts that identify the machine and its set-up; the machine key is made of these only.
    pub stable: BTreeMap<String, String>,
    /// Facts that change from minute to minute (load, frequency, uptime).
    pub drifting: BTreeMap<String, String>,
    /// Personal facts (host name): left out of shareable exports.
    pub personal: BTreeMap<String, String>,
    /// What `doctor` found at the start of the run.
    pub findings: Vec<Finding>,
}

/// A set of rounds with the machine's fingerprint. Its serialised form is the header of a run file;
/// the rest follows there line by line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// `YYYYMMDDTHHMMSS-xxxx`, sorts by time.
    pub id: String,
    /// Start, ns since 1970 UTC.
    pub started_unix_ns: i64,
    /// End, ns since 1970 UTC; None while unfinished.
    pub ended_unix_ns: Option<i64>,
    /// Why it stopped.
    pub ended_by: EndedBy,
    /// Seed of the order of invocations.
    pub seed: u64,
    /// Version of switchcost.
    pub tool_version: String,
    /// Version of the method (METHODOLOGY.md); results of different versions are not compared
    /// silently.
    pub method_version: u32,
    /// The command, as typed.
    pub command: Vec<String>,
    /// What it asked for.
    pub request: Request,
    /// Target half-width of intervals, in parts per million of the median.
    pub precision_ppm: u64,
    /// Time budget, ms.
    pub budget_ms: u64,
    /// Fingerprint.
    pub machine: Machine,
    /// Planned variants; invocations refer to them by index. Those that cannot run carry a reason.
    #[serde(skip)]
    pub variants: Vec<Variant>,
    /// Per variant: why it was not run at all, as (verdict unsupported, reason).
    #[serde(skip)]
    pub not_run: BTreeMap<usize, Reason>,
    /// Done invocations in order of execution.
    #[serde(skip)]
    pub invocations: Vec<Invocation>,
}

impl Run {
    /// The command without the store that it named, and that store.
    #[must_use]
    pub fn command_and_store(&self) -> (Vec<&str>, Option<&str>) {
        let (mut command, mut store) = (Vec::new(), None);
        let mut words = self.command.iter().map(String::as_str);
        while let Some(word) = words.next() {
            match word.strip_prefix("--store") {
                Some("") => store = words.next(),
                Some(rest) if rest.starts_with('=') => store = rest.get(1..),
                _ => command.push(word),
            }
        }
        (command, store)
    }

    /// The starts of each variant, in order of execution.
    #[must_use]
    pub fn starts(&self) -> Vec<Vec<&Invocation>> {
        let mut starts = vec![Vec::new(); self.variants.len()];
        self.invocations.iter().for_each(|start| starts[start.variant].push(start));
        starts
    }

    /// The starts of one variant.
    #[must_use]
    pub fn starts_of(&self, variant: usize) -> Vec<&Invocation> {
        self.invocations.iter().filter(|start| start.variant == variant).collect()
    }
}
