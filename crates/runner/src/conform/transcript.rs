//! A transcript out of a file, read as the host reads it.

use std::io::Read;
use switchcost_analysis::{Bounds, ProbeAnswer, judge};
use switchcost_catalogue::Catalogue;
use switchcost_model::{EndStatus, Fault, Judgement, MechanismId, Placement, Plan, ProcessEnd, Transcript, Variant};
use switchcost_protocol::{DescribeReader, RunReader, kind};

/// Small pieces: the reader moves what is left of one behind each line.
const PIECE: usize = 4096;

/// What a transcript turned out to be.
#[derive(Debug, Clone, PartialEq)]
pub enum TranscriptKind {
    /// An answer to `describe`, with so many mechanisms.
    List(usize),
    /// An answer to `run` that ends so.
    Run(EndStatus),
    /// The same, and what the judge says of it.
    Judged(Judgement),
}

/// Why a transcript is not one.
#[derive(Debug, thiserror::Error)]
pub enum TranscriptFault {
    /// A rule of the protocol is broken.
    #[error("{0}")]
    Broken(Fault),
    /// The last message is missing.
    #[error("the transcript stops before `end`")]
    Unfinished,
    /// The file does not let itself be read.
    #[error("cannot be read ({0})")]
    Unreadable(std::io::Error),
    /// There is no page of the mechanism to judge by.
    #[error("no mechanism is called {0}; `switchcost list` shows all")]
    UnknownMechanism(MechanismId),
}

impl From<Fault> for TranscriptFault {
    fn from(fault: Fault) -> Self {
        Self::Broken(fault)
    }
}

/// Reads a transcript to its end, or to the first rule that it breaks; with `mechanism` it is also
/// judged by that page.
///
/// # Errors
/// Why it cannot be read or judged.
pub fn check_transcript(
    source: &mut dyn Read,
    mechanism: Option<(&MechanismId, &Catalogue)>,
) -> Result<TranscriptKind, TranscriptFault> {
    let mut piece = [0; PIECE];
    let (mut run, mut list) = (RunReader::default(), DescribeReader::default());
    let mut begun: Vec<u8> = Vec::new();
    let mut is_list = None;
    loop {
        let count = source.read(&mut piece).map_err(TranscriptFault::Unreadable)?;
        begun.extend_from_slice(&piece[..count]);
        // The second line tells which of the two it is; until then, and where it never comes,
        // nothing is lost by waiting.
        let second = second_line(&begun);
        if is_list.is_none()
            && (second.is_some() || count == 0 || begun.len() > 2 * switchcost_protocol::MAX_LINE_BYTES)
        {
            is_list = Some(second.is_some_and(|line| kind(line).as_deref() == Some("mechanism")));
        }
        match is_list {
            Some(true) => list.push(&begun)?,
            Some(false) => run.push(&begun)?,
            None => continue,
        }
        begun.clear();
        if count == 0 {
            break;
        }
    }
    if is_list == Some(true) {
        let (_, mechanisms) = list.finish()?;
        return Ok(TranscriptKind::List(mechanisms.len()));
    }
    ended(run.into_transcript(), mechanism)
}

fn second_line(bytes: &[u8]) -> Option<&str> {
    let mut lines = bytes.split_inclusive(|&byte| byte == b'\n');
    let line = lines.nth(1).filter(|line| line.ends_with(b"\n"))?;
    std::str::from_utf8(line).ok()
}

fn ended(
    transcript: Transcript,
    mechanism: Option<(&MechanismId, &Catalogue)>,
) -> Result<TranscriptKind, TranscriptFault> {
    if let Some(fault) = transcript.fault {
        return Err(TranscriptFault::Broken(fault));
    }
    let Some(status) = transcript.end.as_ref().map(|end| end.status) else {
        return Err(TranscriptFault::Unfinished);
    };
    let Some((id, catalogue)) = mechanism else { return Ok(TranscriptKind::Run(status)) };
    let mechanism = catalogue.find(id).ok_or_else(|| TranscriptFault::UnknownMechanism(id.clone()))?;
    let Some(plan) = asked(id, &transcript) else { return Ok(TranscriptKind::Run(status)) };
    let fine = matches!(status, EndStatus::Ok | EndStatus::Unsupported);
    let process = ProcessEnd::Exited(i32::from(!fine));
    let probe_answer = ProbeAnswer { transcript: &transcript, process, log: "", seen: None, bound: &Bounds::default() };
    let ruling = judge(&mechanism.rule(&plan.variant), &plan, &probe_answer);
    Ok(TranscriptKind::Judged(ruling.judgement))
}

/// Nobody knows what was asked: the probe's own echo is taken for it, but for the mechanism.
fn asked(id: &MechanismId, transcript: &Transcript) -> Option<Plan> {
    let echo = transcript.plan.as_ref()?;
    Some(Plan {
        variant: Variant {
            mechanism: id.clone(),
            probe: String::new(),
            experiment: echo.experiment,
            contexts: echo.contexts,
            placement: Placement::of_cpus(echo.cpus.len()),
            timing: echo.timing,
            parameters: echo.parameters.clone(),
            label: String::new(),
        },
        cpus: echo.cpus.clone(),
        batch_units: echo.batch_units,
        batch_ns: 0,
        batches: echo.batches,
        warmup_batches: echo.warmup_batches,
        verify_units: 0,
        seed: 0,
        deadline_ms: 0,
    })
}
