//! What the host saw of a start, and what the probe said of the same.

use schemars::JsonSchema;
use serde::Serialize;
use switchcost_analysis::{Row, claimed_ns};
use switchcost_model as model;

/// One start of the row: the first whose verdict is the row's.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct SeenByPart {
    /// Round of that start.
    round: u64,
    /// What the host saw by itself; null in runs of versions that did not look, and where the probe
    /// could not be started.
    host: Option<model::Seen>,
    /// What the probe said.
    probe: ProbePart,
}

#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct ProbePart {
    /// Process id that it gave.
    pid: Option<u64>,
    /// Time of all its batches by its own clock, warm-up included, ns; null where its figures are
    /// not time.
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
pub(super) fn seen_by(row: &Row<'_>) -> Option<SeenByPart> {
    let of_verdict = row.starts.iter().find(|start| start.judgement.verdict == row.verdict);
    let start = of_verdict.or(row.starts.first())?;
    Some(SeenByPart { round: start.round, host: start.seen.clone(), probe: by_probe(&start.transcript) })
}

fn by_probe(transcript: &model::Transcript) -> ProbePart {
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
