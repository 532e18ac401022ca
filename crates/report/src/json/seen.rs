//! What the host saw of a start, and what the probe said of the same.

use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use switchcost_analysis::claimed_ns;
use switchcost_model as model;

/// One start of the row: the first whose verdict is the row's.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct SeenByPart {
    /// Round of that start.
    round: u64,
    /// What the host saw by itself; null in runs of versions that did not look, and where the probe could not be started.
    host: Option<HostPart>,
    /// What the probe said.
    probe: ProbePart,
}

#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct HostPart {
    /// Process id of the probe.
    pid: u64,
    /// From the start of the process until the host had read `plan`, ns; null if it did not come.
    plan_ns: Option<u64>,
    /// The same for the first message with samples or a histogram.
    first_samples_ns: Option<u64>,
    /// The same for the last one.
    last_samples_ns: Option<u64>,
    /// Kernel switches of the probe and all its descendants, from start to end, because they waited.
    voluntary: u64,
    /// The same because the CPU was taken from them.
    involuntary: u64,
    /// CPU time of the same, ns.
    cpu_ns: u64,
    /// Tasks created on the whole machine meanwhile; null where the system does not count them.
    forks: Option<u64>,
    /// Processes that the probe left behind.
    strays: u32,
    /// One look at the probe's tasks before the batches; null where the system shows none, or where the batches may have been over by then.
    tree: Option<TreePart>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct TreePart {
    /// Tasks of all processes.
    tasks: u64,
    /// Processes: the probe and its descendants.
    processes: u64,
    /// Tasks of the process that has most.
    most_tasks: u64,
    /// Processes that the following figures cover, at most 256; CPUs and switches cover at most 1,024 tasks of these.
    looked_at: u64,
    /// Distinct address spaces; null where the kernel does not compare them.
    address_spaces: Option<u64>,
    /// Kind of namespace → number of distinct ones.
    namespaces: BTreeMap<String, u64>,
    /// Distinct sets of control groups.
    control_groups: Option<u64>,
    /// CPUs that any task may use.
    allowed_cpus: Vec<u32>,
    /// CPUs on which tasks ran last.
    ran_on: Vec<u32>,
    /// Kernel switches of all tasks until then.
    switches: u64,
    /// CPU time of all its processes until then, ns.
    cpu_ns: u64,
    /// The process id that the probe gave is that of one of these processes.
    knows_pid: bool,
}

#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct ProbePart {
    /// Process id that it gave.
    pid: Option<u64>,
    /// Time of all its batches by its own clock, warm-up included, ns; null for experiment footprint.
    claimed_ns: Option<u64>,
    /// Units that it claims.
    units: Option<u64>,
    /// Kernel switches that it counted.
    kernel_switches: Option<u64>,
    /// Tasks that it counted them of.
    tasks: Option<u64>,
    /// CPU time of the contexts over the batches, ns.
    cpu_ns: Option<i64>,
    /// Distinct address spaces of its contexts.
    address_spaces: Option<u64>,
    /// CPUs on which it saw a context.
    cpus: Option<Vec<u32>>,
}

/// The start that the row's verdict speaks of, or the first.
pub(super) fn seen_by(run: &model::Run, index: usize, verdict: model::Verdict) -> Option<SeenByPart> {
    let mine = || run.invocations.iter().filter(|invocation| invocation.variant == index);
    let invocation = mine().find(|start| start.judgement.verdict == verdict).or_else(|| mine().next())?;
    Some(SeenByPart {
        round: invocation.round,
        host: invocation.seen.as_ref().map(Into::into),
        probe: said(&invocation.transcript),
    })
}

fn said(transcript: &model::Transcript) -> ProbePart {
    let evidence = transcript.evidence.as_ref();
    let kernel = evidence.and_then(|evidence| evidence.kernel.as_ref());
    ProbePart {
        pid: transcript.hello.as_ref().map(|hello| hello.pid),
        claimed_ns: claimed_ns(transcript).map(|ns| ns as u64),
        units: evidence.map(|evidence| evidence.units),
        kernel_switches: kernel.map(|kernel| kernel.voluntary.saturating_add(kernel.involuntary)),
        tasks: kernel.map(|kernel| kernel.tasks),
        cpu_ns: evidence.and_then(|evidence| evidence.counts.get("cpu_time_ns").copied()),
        address_spaces: evidence.and_then(|evidence| evidence.address_spaces),
        cpus: evidence.and_then(|evidence| evidence.cpus.clone()),
    }
}

impl From<&model::Seen> for HostPart {
    fn from(seen: &model::Seen) -> Self {
        Self {
            pid: seen.pid,
            plan_ns: seen.plan_ns,
            first_samples_ns: seen.first_samples_ns,
            last_samples_ns: seen.last_samples_ns,
            voluntary: seen.voluntary,
            involuntary: seen.involuntary,
            cpu_ns: seen.cpu_ns,
            forks: seen.forks,
            strays: seen.strays,
            tree: seen.tree.as_ref().map(Into::into),
        }
    }
}

impl From<&model::Tree> for TreePart {
    fn from(tree: &model::Tree) -> Self {
        Self {
            tasks: tree.tasks,
            processes: tree.processes,
            most_tasks: tree.most_tasks,
            looked_at: tree.looked_at,
            address_spaces: tree.address_spaces,
            namespaces: tree.namespaces.clone(),
            control_groups: tree.control_groups,
            allowed_cpus: tree.allowed_cpus.clone(),
            ran_on: tree.ran_on.clone(),
            switches: tree.switches,
            cpu_ns: tree.cpu_ns,
            knows_pid: tree.knows_pid,
        }
    }
}
