//! Between an invocation on disk and in memory: the only place that knows both.

use crate::disk::{InvocationRecord, tag};
use crate::error::Unreadable;
use switchcost_model as model;

fn process_to_disk(process: model::ProcessEnd) -> (&'static str, Option<i32>) {
    match process {
        model::ProcessEnd::Exited(status) => ("exited", Some(status)),
        model::ProcessEnd::Signalled(signal) => ("signalled", Some(signal)),
        model::ProcessEnd::Deadline => ("deadline", None),
        model::ProcessEnd::Stopped => ("stopped", None),
        model::ProcessEnd::NotStarted => ("not_started", None),
        model::ProcessEnd::Unknown => ("unknown", None),
    }
}

fn process_from_disk(word: &str, code: Option<i32>) -> Result<model::ProcessEnd, Unreadable> {
    match (word, code) {
        ("exited", Some(status)) => Ok(model::ProcessEnd::Exited(status)),
        ("signalled", Some(signal)) => Ok(model::ProcessEnd::Signalled(signal)),
        ("deadline", None) => Ok(model::ProcessEnd::Deadline),
        ("stopped", None) => Ok(model::ProcessEnd::Stopped),
        ("not_started", None) => Ok(model::ProcessEnd::NotStarted),
        ("unknown", None) => Ok(model::ProcessEnd::Unknown),
        (word, Some(code)) => Err(Unreadable(format!("`{word}` with code {code} is not a way for a process to end"))),
        (word, None) => Err(Unreadable(format!("`{word}` without a code is not a way for a process to end"))),
    }
}

fn hello_from_disk(hello: Option<model::Hello>, pid: Option<u64>) -> Result<Option<model::Hello>, Unreadable> {
    match (hello, pid) {
        (None, None) => Ok(None),
        (Some(hello), Some(pid)) => Ok(Some(model::Hello { pid, ..hello })),
        _ => Err(Unreadable("of `hello` and `pid` one is missing".to_owned())),
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
            verdict: invocation.judgement.verdict,
            reason: invocation.judgement.reason.clone(),
            pid: transcript.hello.as_ref().map(|hello| hello.pid),
            hello: transcript.hello.clone(),
            plan: transcript.plan.clone(),
            samples: transcript.samples.clone(),
            histograms: transcript.histograms.clone(),
            evidence: transcript.evidence.clone(),
            seen: invocation.seen.clone(),
            notes: transcript.notes.clone(),
            end: transcript.end.clone(),
            fault: transcript.fault.clone(),
            disturbances: invocation.disturbances.clone(),
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
                plan: record.plan,
                samples: record.samples,
                histograms: record.histograms,
                evidence: record.evidence,
                notes: record.notes,
                end: record.end,
                fault: record.fault,
            },
            seen: record.seen,
            judgement: model::Judgement { verdict: record.verdict, reason: record.reason },
            disturbances: record.disturbances,
            log: record.log,
        })
    }
}
