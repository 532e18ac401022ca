//! Between disk and memory: the only place that knows both.

use super::{
    Clock, Disturbance, End, Evidence, Finding, Hello, Histogram, Hops, InvocationRecord, KernelSwitches, Machine,
    PageFaults, PlanEcho, RunRecord, Samples, Seen, Tree, Turns, VariantRecord, tag,
};
use crate::jsonl::FORMAT;
use crate::store::RunHeader;
use std::collections::BTreeMap;
use std::str::FromStr;
use switchcost_model as model;

/// Why a record has no meaning, as a clause without the place.
#[derive(Debug)]
pub struct Unreadable(pub String);

impl From<model::IdError> for Unreadable {
    fn from(error: model::IdError) -> Self {
        Self(error.0)
    }
}

/// Conversions of a record whose fields are the same on both sides.
macro_rules! mirror {
    ($name:ident { $($field:ident),+ }) => {
        impl From<&model::$name> for $name {
            fn from(value: &model::$name) -> Self {
                Self { $($field: value.$field.clone()),+ }
            }
        }

        impl From<$name> for model::$name {
            fn from(value: $name) -> Self {
                Self { $($field: value.$field),+ }
            }
        }
    };
}
mirror!(Disturbance { kind, detail });
mirror!(Clock { name, ticks_per_second, read_cost_ticks });
mirror!(Turns { total, min, max, contexts });
mirror!(KernelSwitches { voluntary, involuntary, tasks, source });
mirror!(Hops { count, in_order, same_cpu, same_thread, timed });
mirror!(Tree {
    tasks,
    processes,
    most_tasks,
    looked_at,
    address_spaces,
    namespaces,
    control_groups,
    allowed_cpus,
    ran_on,
    switches,
    cpu_ns,
    knows_pid
});
mirror!(PageFaults { minor, major });

/// Conversions of a record where some fields are words of an enumeration in memory and text on disk.
macro_rules! mirror_with_words {
    ($name:ident { words: $($word:ident),+; same: $($field:ident),+ }) => {
        impl From<&model::$name> for $name {
            fn from(value: &model::$name) -> Self {
                Self { $($word: value.$word.to_string(),)+ $($field: value.$field.clone()),+ }
            }
        }

        impl TryFrom<$name> for model::$name {
            type Error = Unreadable;

            fn try_from(value: $name) -> Result<Self, Unreadable> {
                Ok(Self { $($word: FromStr::from_str(&value.$word)?,)+ $($field: value.$field),+ })
            }
        }
    };
}
mirror_with_words!(Finding { words: severity; same: id, what, effect, cure });
mirror_with_words!(Samples { words: phase; same: units, quantity, ticks });
mirror_with_words!(Histogram {
    words: phase;
    same: units, bits, buckets, sum, min, max, pair_sum, pair_count, span_counter, span_clock
});
mirror_with_words!(PlanEcho {
    words: mechanism, experiment, timing;
    same: contexts, cpus, batch_units, batches, warmup_batches, parameters
});
mirror_with_words!(End { words: status; same: code, detail, errno, samples });

fn all<'a, D: From<&'a M>, M>(values: &'a [M]) -> Vec<D> {
    values.iter().map(D::from).collect()
}

fn try_all<M: TryFrom<D, Error = Unreadable>, D>(values: Vec<D>) -> Result<Vec<M>, Unreadable> {
    values.into_iter().map(M::try_from).collect()
}

impl From<&model::Machine> for Machine {
    fn from(machine: &model::Machine) -> Self {
        Self {
            stable: machine.stable.clone(),
            drifting: machine.drifting.clone(),
            personal: machine.personal.clone(),
            findings: all(&machine.findings),
        }
    }
}

impl TryFrom<Machine> for model::Machine {
    type Error = Unreadable;

    fn try_from(machine: Machine) -> Result<Self, Unreadable> {
        let Machine { stable, drifting, personal, findings } = machine;
        Ok(Self { stable, drifting, personal, findings: try_all(findings)? })
    }
}

impl From<&model::Run> for RunRecord {
    fn from(run: &model::Run) -> Self {
        Self {
            t: tag::RUN.into(),
            format: FORMAT,
            id: run.id.clone(),
            started_unix_ns: run.started_unix_ns,
            ended_unix_ns: run.ended_unix_ns,
            ended_by: run.ended_by.to_string(),
            seed: run.seed,
            tool_version: run.tool_version.clone(),
            method_version: run.method_version,
            command: run.command.clone(),
            precision_ppm: run.precision_ppm,
            budget_ms: run.budget_ms,
            machine: (&run.machine).into(),
        }
    }
}

impl VariantRecord {
    /// The record of every variant of a run, in order.
    pub fn all_of(run: &model::Run) -> Vec<Self> {
        let record = |(index, variant): (usize, &model::Variant)| Self {
            t: tag::VARIANT.into(),
            index: index as u64,
            mechanism: variant.mechanism.to_string(),
            probe: variant.probe.clone(),
            experiment: variant.experiment.to_string(),
            contexts: variant.contexts,
            placement: variant.placement.to_string(),
            timing: variant.timing.to_string(),
            parameters: variant.parameters.clone(),
            label: variant.label.clone(),
            not_run: run.not_run.get(&index).cloned(),
        };
        run.variants.iter().enumerate().map(record).collect()
    }
}

impl TryFrom<VariantRecord> for model::Variant {
    type Error = Unreadable;

    fn try_from(record: VariantRecord) -> Result<Self, Unreadable> {
        Ok(Self {
            mechanism: record.mechanism.parse()?,
            probe: record.probe,
            experiment: record.experiment.parse()?,
            contexts: record.contexts,
            placement: record.placement.parse()?,
            timing: record.timing.parse()?,
            parameters: record.parameters,
            label: record.label,
        })
    }
}

/// A run without variants and invocations, from its header.
pub fn begin(header: RunRecord) -> Result<model::Run, Unreadable> {
    Ok(model::Run {
        id: header.id,
        started_unix_ns: header.started_unix_ns,
        ended_unix_ns: header.ended_unix_ns,
        seed: header.seed,
        ended_by: header.ended_by.parse()?,
        tool_version: header.tool_version,
        method_version: header.method_version,
        command: header.command,
        precision_ppm: header.precision_ppm,
        budget_ms: header.budget_ms,
        machine: header.machine.try_into()?,
        variants: Vec::new(),
        not_run: BTreeMap::new(),
        invocations: Vec::new(),
    })
}

/// Puts the next variant to a run.
pub fn push_variant(run: &mut model::Run, mut record: VariantRecord) -> Result<(), Unreadable> {
    let not_run = record.not_run.take();
    let variant = record.try_into()?;
    if let Some(reason) = not_run {
        run.not_run.insert(run.variants.len(), reason);
    }
    run.variants.push(variant);
    Ok(())
}

/// The line of `history` for a stored header with its counts of variants, variants not run, and invocations.
pub fn header_of(record: RunRecord, [variants, not_run, invocations]: [u64; 3]) -> Result<RunHeader, Unreadable> {
    Ok(RunHeader {
        id: record.id,
        started_unix_ns: record.started_unix_ns,
        ended_unix_ns: record.ended_unix_ns,
        ended_by: record.ended_by.parse()?,
        tool_version: record.tool_version,
        method_version: record.method_version,
        command: record.command,
        machine: record.machine.stable,
        variants,
        not_run,
        invocations,
    })
}

fn process_to_disk(process: model::ProcessEnd) -> (&'static str, Option<i32>) {
    match process {
        model::ProcessEnd::Exited(status) => ("exited", Some(status)),
        model::ProcessEnd::Signalled(signal) => ("signalled", Some(signal)),
        model::ProcessEnd::Deadline => ("deadline", None),
        model::ProcessEnd::Stopped => ("stopped", None),
        model::ProcessEnd::NotStarted => ("not_started", None),
    }
}

fn process_from_disk(word: &str, code: Option<i32>) -> Result<model::ProcessEnd, Unreadable> {
    match (word, code) {
        ("exited", Some(status)) => Ok(model::ProcessEnd::Exited(status)),
        ("signalled", Some(signal)) => Ok(model::ProcessEnd::Signalled(signal)),
        ("deadline", None) => Ok(model::ProcessEnd::Deadline),
        ("stopped", None) => Ok(model::ProcessEnd::Stopped),
        ("not_started", None) => Ok(model::ProcessEnd::NotStarted),
        (word, code) => Err(Unreadable(format!("`{word}` with code {code:?} is no way for a process to end"))),
    }
}

impl From<&model::Hello> for Hello {
    fn from(hello: &model::Hello) -> Self {
        Self {
            protocol: hello.protocol,
            probe: hello.probe.clone(),
            version: hello.version.clone(),
            runtime: hello.runtime.clone(),
            compiler: hello.compiler.clone(),
            flags: hello.flags.clone(),
            clock: (&hello.clock).into(),
            counter: hello.counter.clone(),
        }
    }
}

fn hello_from_disk(hello: Option<Hello>, pid: Option<u64>) -> Result<Option<model::Hello>, Unreadable> {
    let (hello, pid) = match (hello, pid) {
        (None, None) => return Ok(None),
        (Some(hello), Some(pid)) => (hello, pid),
        _ => return Err(Unreadable("of `hello` and `pid` one is missing".to_owned())),
    };
    Ok(Some(model::Hello {
        protocol: hello.protocol,
        probe: hello.probe,
        version: hello.version,
        runtime: hello.runtime,
        compiler: hello.compiler,
        flags: hello.flags,
        pid,
        clock: hello.clock.into(),
        counter: hello.counter,
    }))
}

impl From<&model::Evidence> for Evidence {
    fn from(evidence: &model::Evidence) -> Self {
        Self {
            units: evidence.units,
            turns: evidence.turns.as_ref().map(Into::into),
            token: evidence.token,
            kernel: evidence.kernel.as_ref().map(Into::into),
            address_spaces: evidence.address_spaces,
            cpus: evidence.cpus.clone(),
            migrations: evidence.migrations,
            hops: evidence.hops.as_ref().map(Into::into),
            page_faults: evidence.page_faults.as_ref().map(Into::into),
            gc_cycles: evidence.gc_cycles,
            counts: evidence.counts.clone(),
            why: evidence.why.clone(),
        }
    }
}

impl From<Evidence> for model::Evidence {
    fn from(evidence: Evidence) -> Self {
        Self {
            units: evidence.units,
            turns: evidence.turns.map(Into::into),
            token: evidence.token,
            kernel: evidence.kernel.map(Into::into),
            address_spaces: evidence.address_spaces,
            cpus: evidence.cpus,
            migrations: evidence.migrations,
            hops: evidence.hops.map(Into::into),
            page_faults: evidence.page_faults.map(Into::into),
            gc_cycles: evidence.gc_cycles,
            counts: evidence.counts,
            why: evidence.why,
        }
    }
}

impl From<&model::Seen> for Seen {
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

impl From<Seen> for model::Seen {
    fn from(seen: Seen) -> Self {
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
            tree: seen.tree.map(Into::into),
        }
    }
}

impl From<&model::Invocation> for InvocationRecord {
    fn from(invocation: &model::Invocation) -> Self {
        let transcript = &invocation.transcript;
        let (process, process_code) = process_to_disk(invocation.process);
        Self {
            t: tag::INVOCATION.into(),
            variant: invocation.variant as u64,
            round: invocation.round,
            sequence: invocation.sequence,
            started_unix_ns: invocation.started_unix_ns,
            wall_ns: invocation.wall_ns,
            cpus: invocation.cpus.clone(),
            environment_padding: invocation.environment_padding,
            peak_rss_bytes: invocation.peak_rss_bytes,
            process: process.to_owned(),
            process_code,
            verdict: invocation.judgement.verdict.to_string(),
            reason: invocation.judgement.reason.clone(),
            pid: transcript.hello.as_ref().map(|hello| hello.pid),
            hello: transcript.hello.as_ref().map(Into::into),
            plan: transcript.plan.as_ref().map(Into::into),
            samples: all(&transcript.samples),
            histograms: all(&transcript.histograms),
            evidence: transcript.evidence.as_ref().map(Into::into),
            seen: invocation.seen.as_ref().map(Into::into),
            notes: transcript.notes.clone(),
            end: transcript.end.as_ref().map(Into::into),
            fault: transcript.fault.clone(),
            disturbances: all(&invocation.disturbances),
            log: invocation.log.clone(),
        }
    }
}

impl TryFrom<InvocationRecord> for model::Invocation {
    type Error = Unreadable;

    fn try_from(record: InvocationRecord) -> Result<Self, Unreadable> {
        let variant = usize::try_from(record.variant)
            .map_err(|_| Unreadable(format!("no run has a variant with index {}", record.variant)))?;
        Ok(Self {
            variant,
            round: record.round,
            sequence: record.sequence,
            started_unix_ns: record.started_unix_ns,
            wall_ns: record.wall_ns,
            cpus: record.cpus,
            environment_padding: record.environment_padding,
            peak_rss_bytes: record.peak_rss_bytes,
            process: process_from_disk(&record.process, record.process_code)?,
            transcript: model::Transcript {
                hello: hello_from_disk(record.hello, record.pid)?,
                plan: record.plan.map(TryInto::try_into).transpose()?,
                samples: try_all(record.samples)?,
                histograms: try_all(record.histograms)?,
                evidence: record.evidence.map(Into::into),
                notes: record.notes,
                end: record.end.map(TryInto::try_into).transpose()?,
                fault: record.fault,
            },
            seen: record.seen.map(Into::into),
            judgement: model::Judgement { verdict: record.verdict.parse()?, reason: record.reason },
            disturbances: record.disturbances.into_iter().map(Into::into).collect(),
            log: record.log,
        })
    }
}
