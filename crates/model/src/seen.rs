//! What the host saw of an invocation by itself, without asking the probe.

use crate::{Counters, PartSeen};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The host's own view of one start of a probe. Nothing here rests on the probe's word, but for the
/// moment of the look, which its `plan` message gives.
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
    /// Kernel switches of the probe and of all its descendants because they waited, as `wait4`
    /// told.
    pub voluntary: u64,
    /// Kernel switches of the same because the CPU was taken from them.
    pub involuntary: u64,
    /// CPU time of the same, ns.
    pub cpu_ns: u64,
    /// Page faults of the same, minor and major; None in runs of versions that did not ask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_faults: Option<u64>,
    /// How long its tasks that were there had waited for a CPU when its time was over, all
    /// together, ns; None: it came to its end, or the kernel does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waited_ns: Option<u64>,
    /// Tasks (threads and processes) created on the whole machine while the probe ran; None where
    /// the system does not count them.
    pub forks: Option<u64>,
    /// Processes that the probe left behind, which the host ended.
    pub strays: u32,
    /// The probe's processes and threads when `plan` had been read; None where the host cannot
    /// look.
    pub tree: Option<Tree>,
    /// What it counted of this start and of one with other batches; None: nothing was to be
    /// counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counters: Option<Counters>,
    /// Program that traced the probe when the host heard from it, and is none of its own: each of
    /// its stops is a kernel switch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tracer: Option<String>,
    /// What it saw by its part in the experiment.
    #[serde(flatten)]
    pub part: PartSeen,
}

impl Seen {
    /// Who traced the probe.
    #[must_use]
    pub fn tracer(&self) -> Option<&str> {
        self.tracer.as_deref().or_else(|| self.tree.as_ref()?.facts.as_ref()?.tracer.as_deref())
    }
}

/// Tasks of which a look reads switches, CPU time and CPUs; of more, these say nothing of the
/// whole.
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
    /// Processes whose address space and surroundings were looked at, the first ones if there were
    /// too many.
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
    /// Tasks whose system calls pass a filter (seccomp); None where the kernel does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filtered: Option<u64>,
    /// Tasks that a task of the probe traces; None where the kernel does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traced: Option<u64>,
    /// MiB that its processes have in memory; None where the kernel does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resident_mib: Option<u64>,
    /// Kind of open file → how many the probe made itself; None where they cannot be read.
    pub files: Option<BTreeMap<String, u64>>,
    /// Page faults of its processes until then, minor and major.
    pub page_faults: u64,
    /// Program that traces one of them and is none of the probe's own: each of its stops is a
    /// kernel switch of theirs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tracer: Option<String>,
}
