//! What a probe said during one invocation, in memory.

use crate::id::words;
use crate::{Experiment, Fault, IdError, MechanismId, Parameters, Timing};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// A clock as declared by the probe.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clock {
    /// Name of the clock, e.g. `CLOCK_MONOTONIC`.
    pub name: String,
    /// Ticks in one second.
    pub ticks_per_second: u64,
    /// Cost of one reading, in ticks.
    pub read_cost_ticks: u64,
}

impl Clock {
    /// Whether figures by it are computed and not timed, so that nothing which runs beside the
    /// probe disturbs them.
    #[must_use]
    pub fn is_simulated(&self) -> bool {
        self.name == "simulated"
    }
}

/// The probe's introduction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// Protocol version.
    pub protocol: u64,
    /// Probe's name.
    pub probe: String,
    /// Probe's version.
    pub version: String,
    /// Language runtime or C library, with version.
    pub runtime: String,
    /// Compiler and version.
    pub compiler: Option<String>,
    /// Flags it was built with.
    pub flags: Option<String>,
    /// Process id of the probe. Stored beside the rest, which is the same for all starts of a
    /// probe.
    #[serde(skip)]
    pub pid: u64,
    /// Clock of batches.
    pub clock: Clock,
    /// Name of the cycle counter of `timing=each`.
    pub counter: Option<String>,
    /// Cycles that its ruler `chain` takes on this architecture; None: it does not know, or has
    /// none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chain_cycles: Option<u64>,
}

/// One line of `describe`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Described {
    /// Mechanism implemented.
    pub id: MechanismId,
    /// Experiments implemented.
    pub experiments: Vec<Experiment>,
    /// Timings implemented.
    pub timings: Vec<Timing>,
    /// Names of parameters understood.
    pub parameters: Vec<String>,
    /// None: it runs here. Otherwise code, reason and what to install.
    pub unavailable: Option<Unavailable>,
}

/// Why a mechanism cannot run here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unavailable {
    /// One of the closed list of PROTOCOL.md.
    pub code: String,
    /// One sentence.
    pub reason: String,
    /// What to do about it.
    pub install: Option<String>,
}

/// The plan as the probe understood it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanEcho {
    /// Mechanism.
    pub mechanism: MechanismId,
    /// Experiment.
    pub experiment: Experiment,
    /// Contexts.
    pub contexts: u64,
    /// Timing.
    pub timing: Timing,
    /// CPUs.
    pub cpus: Vec<u32>,
    /// Units in a batch, as calibrated or asked and rounded up to whole laps.
    pub batch_units: u64,
    /// Measured batches.
    pub batches: u64,
    /// Warm-up batches.
    pub warmup_batches: u64,
    /// Parameters, defaults filled in.
    #[serde(default)]
    pub parameters: Parameters,
}

/// Part of a transcript in which a sample was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// Planned warm-up: stored, never part of a statistic.
    Warmup,
    /// Measured.
    Measure,
}
words!(Phase, "phase", Warmup => "warmup", Measure => "measure");

/// Raw ticks of consecutive batches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Samples {
    /// Phase of all of them.
    pub phase: Phase,
    /// Units in each batch.
    pub units: u64,
    /// What the numbers are, when not clock ticks.
    pub quantity: Option<String>,
    /// Clock ticks of each batch (bytes where `quantity` says so).
    pub ticks: Vec<i64>,
    /// Name of a ruler → clock ticks that it took beside each batch, the slower of before and
    /// after; empty: the probe has none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub rulers: BTreeMap<String, Vec<i64>>,
}

/// Per-switch intervals in a histogram of constant size.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Histogram {
    /// Phase.
    pub phase: Phase,
    /// Recorded intervals.
    pub units: u64,
    /// Resolution: a bucket at v ≥ 2^bits is at most 2^(⌊log₂ v⌋ − bits) wide.
    pub bits: u32,
    /// Lower edge in counter ticks, count.
    pub buckets: Vec<(u64, u64)>,
    /// Exact sum of intervals, counter ticks.
    pub sum: u64,
    /// Exact minimum.
    pub min: u64,
    /// Exact maximum.
    pub max: u64,
    /// Sum of back-to-back counter reads taken in the same loop.
    pub pair_sum: u64,
    /// Their number.
    pub pair_count: u64,
    /// Counter ticks of a stretch of time …
    pub span_counter: u64,
    /// … and clock ticks of the same stretch.
    pub span_clock: u64,
}

/// Turns as the contexts counted them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turns {
    /// Sum over contexts.
    pub total: u64,
    /// Fewest turns of a context.
    pub min: u64,
    /// Most turns of a context.
    pub max: u64,
    /// Number of contexts.
    pub contexts: u64,
}

/// Context switches counted by the kernel over all participating tasks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelSwitches {
    /// The task gave up the CPU.
    pub voluntary: u64,
    /// The CPU was taken from it.
    pub involuntary: u64,
    /// Number of tasks.
    pub tasks: u64,
    /// Where the counts were read.
    pub source: String,
}

/// Order and CPUs of hops, of the timed batches or of a pass after them by the same contexts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hops {
    /// Hops checked.
    pub count: u64,
    /// Hops where the next context of the ring came to run.
    pub in_order: u64,
    /// Hops whose two contexts ran on one CPU.
    pub same_cpu: u64,
    /// Hops whose two contexts ran on one thread of the operating system; None where the probe
    /// cannot tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_thread: Option<u64>,
    /// These are hops of the timed batches themselves, not of a pass after them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub timed: bool,
}

/// Page faults.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageFaults {
    /// Without I/O.
    pub minor: u64,
    /// With I/O.
    pub major: u64,
}

/// What shows that the claimed units happened.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Evidence {
    /// The driver's claim.
    pub units: u64,
    /// Turns counted by the contexts.
    pub turns: Option<Turns>,
    /// Advance of the token's sequence number.
    pub token: Option<u64>,
    /// Kernel's counts.
    pub kernel: Option<KernelSwitches>,
    /// Distinct address spaces.
    pub address_spaces: Option<u64>,
    /// CPUs on which a task was seen.
    pub cpus: Option<Vec<u32>>,
    /// Changes of CPU seen by the verification pass.
    pub migrations: Option<u64>,
    /// Verification pass.
    pub hops: Option<Hops>,
    /// Page faults.
    pub page_faults: Option<PageFaults>,
    /// Garbage collections.
    pub gc_cycles: Option<u64>,
    /// Other counts that a rule may ask for.
    #[serde(default)]
    pub counts: BTreeMap<String, i64>,
    /// Why a field is missing.
    #[serde(default)]
    pub why: BTreeMap<String, String>,
}

/// How the probe says that it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EndStatus {
    /// Everything measured.
    Ok,
    /// Cannot run here: a reason, not a fault.
    Unsupported,
    /// The plan was not understood.
    Refused,
    /// Something broke.
    Failed,
}
words!(EndStatus, "end status", Ok => "ok", Unsupported => "unsupported", Refused => "refused", Failed => "failed");

/// The probe's last message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// How it ended.
    pub status: EndStatus,
    /// Code from the closed list, when not ok.
    pub code: Option<String>,
    /// One sentence.
    pub detail: Option<String>,
    /// System error number.
    pub errno: Option<i64>,
    /// Number of ticks or intervals sent.
    pub samples: u64,
}

/// All that a probe said in one `run`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Transcript {
    /// Introduction.
    pub hello: Option<Hello>,
    /// Plan as understood.
    pub plan: Option<PlanEcho>,
    /// Samples in order.
    pub samples: Vec<Samples>,
    /// Histograms, one a phase.
    pub histograms: Vec<Histogram>,
    /// Evidence.
    pub evidence: Option<Evidence>,
    /// Notes.
    pub notes: Vec<String>,
    /// End; None when the probe died or was killed before it.
    pub end: Option<End>,
    /// First violation of the protocol, with the line's number; reading stopped there.
    pub fault: Option<Fault>,
}
