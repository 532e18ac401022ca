//! What the host saw of an invocation by itself, without asking the probe.

use crate::Obstacle;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The host's own view of one start of a probe. Nothing here rests on the probe's word, but for the moment of the look, which its `plan`
/// message gives.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Seen {
    /// Process id of the probe.
    pub pid: u64,
    /// From the start of the process until the host had read `plan`, ns.
    pub plan_ns: Option<u64>,
    /// The same for the first message with samples or a histogram.
    pub first_samples_ns: Option<u64>,
    /// The same for the last one.
    pub last_samples_ns: Option<u64>,
    /// Kernel switches of the probe and of all its descendants because they waited, as `wait4` told.
    pub voluntary: u64,
    /// Kernel switches of the same because the CPU was taken from them.
    pub involuntary: u64,
    /// CPU time of the same, ns.
    pub cpu_ns: u64,
    /// Page faults of the same, minor and major; None in runs of versions that did not ask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_faults: Option<u64>,
    /// Tasks (threads and processes) created on the whole machine while the probe ran; None where the system does not count them.
    pub forks: Option<u64>,
    /// Processes that the probe left behind, which the host ended.
    pub strays: u32,
    /// The probe's processes and threads when `plan` had been read; None where the host cannot look.
    pub tree: Option<Tree>,
    /// How the probe's tasks were scheduled, and what ran beside them; None where the experiment does not ask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduled: Option<Scheduled>,
    /// What it executed; None where the experiment does not ask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub executed: Option<Executed>,
}

/// What a probe executed, as callgrind counted it from outside.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Executed {
    /// Who counted, with version.
    pub by: String,
    /// Instructions of the whole process at user level.
    pub instructions: u64,
    /// Units that `functions` are of.
    pub units: u64,
    /// Function → instructions of its own in so many units, the [`FUNCTIONS_KEPT`] that executed most.
    pub functions: BTreeMap<String, i64>,
    /// Why it could not be counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<Obstacle>,
}

/// Functions of which is kept what they executed.
pub const FUNCTIONS_KEPT: usize = 64;

/// How the tasks of a probe were scheduled while its units took place, as the kernel told the host, and the load that the host put beside them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Scheduled {
    /// Classes of its tasks, at the plan and when the figures arrived.
    pub classes: BTreeSet<String>,
    /// Nice values, likewise.
    pub nices: BTreeSet<i32>,
    /// Slices, ns; 0: the kernel's own, or not told.
    pub slices_ns: BTreeSet<u64>,
    /// Where in the kernel they waited.
    pub channels: BTreeSet<String>,
    /// Time that they waited for a CPU between the two looks, ns; None: the kernel does not count it.
    pub waited_ns: Option<u64>,
    /// Between the two looks, ns.
    pub between_ns: u64,
    /// Hogs that were asked for.
    pub hogs: u64,
    /// Somebody had stopped a hog when the figures arrived.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hogs_stopped: bool,
    /// CPU time of the hogs between the two looks, ns.
    pub hogs_cpu_ns: u64,
    /// From the start of the process until the hogs had been released and the classes set, ns; None: a reason in its place.
    pub loaded_ns: Option<u64>,
    /// Why the load or the class that was asked for could not be had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<Obstacle>,
    /// The hogs were ended because the probe had not come to its end long after the last intended time.
    pub cut: bool,
    /// For whom its tasks waited. A start that was traced for this is in no figure; None: it was not to be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tail: Option<Tail>,
}

/// For whom tasks of a probe waited for a CPU, as the kernel's tracepoints tell.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Tail {
    /// Times that one of them was woken and then ran.
    pub wakes: u64,
    /// The longest of these waits, ns, the longest first.
    pub longest_ns: Vec<u64>,
    /// Who had the CPU in these, task, interrupt or softirq → ns.
    pub held: BTreeMap<String, u64>,
    /// Events of the scheduler that the kernel did not keep, a few at most.
    #[serde(default)]
    pub lost: u64,
    /// Why nothing of this is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown: Option<Obstacle>,
}

/// Tasks of which a look reads switches, CPU time and CPUs; of more, these say nothing of the whole.
pub const TASKS_LOOKED_AT: usize = 256;

/// One look at the probe and all its descendants.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Tree {
    /// Tasks of all its processes.
    pub tasks: u64,
    /// Its processes.
    pub processes: u64,
    /// Tasks of the process that has most.
    pub most_tasks: u64,
    /// Processes whose address space and surroundings were looked at, the first ones if there were too many.
    pub looked_at: u64,
    /// Distinct address spaces among those; None where the kernel does not compare them.
    pub address_spaces: Option<u64>,
    /// Kind of namespace (`pid`, `net`, …) → number of distinct ones among those.
    pub namespaces: BTreeMap<String, u64>,
    /// Distinct sets of control groups among those; None where it cannot be read.
    pub control_groups: Option<u64>,
    /// CPUs that any of its tasks may use.
    pub allowed_cpus: Vec<u32>,
    /// CPUs on which its tasks ran last.
    pub ran_on: Vec<u32>,
    /// Kernel switches of its tasks until then, of the first [`TASKS_LOOKED_AT`] if there are more.
    pub switches: u64,
    /// CPU time of all its processes until then, ns; those that had ended by then are missing.
    pub cpu_ns: u64,
    /// The process id that the probe gave is that of one of its processes.
    pub knows_pid: bool,
    /// How its tasks were set up; None in runs of versions that did not ask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub facts: Option<TaskFacts>,
}

/// How the tasks of a look were set up: what the row's parameters and its channel claim.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct TaskFacts {
    /// Tasks that this was read of.
    pub tasks: u64,
    /// Scheduling class → tasks of it.
    pub classes: BTreeMap<String, u64>,
    /// Tasks whose indirect branches others cannot steer; None where the kernel does not say.
    pub guarded: Option<u64>,
    /// Kind of open file → how many the probe made itself; None where they cannot be read.
    pub files: Option<BTreeMap<String, u64>>,
    /// Page faults of its processes until then, minor and major.
    pub page_faults: u64,
}
