//! One start of a probe: process, transcript, deadline.

use std::collections::VecDeque;
use std::time::{Duration, Instant};
use switchcost_machine::interrupt::Interrupt;
use switchcost_machine::spawn::{self, Child, ExitStatus, Heard, SpawnRequest};
use switchcost_model::{Plan, ProbeInfo, ProcessEnd, Transcript};
use switchcost_protocol::{RunReader, run_arguments};

/// How much of a probe's output is kept: its last words matter, not its first.
const LOG_BYTES: usize = 8 * 1024;

/// What is listened to after the end at most, in pieces: more than a pipe holds was printed later.
const LAST_WORDS: usize = 16;

/// How long a probe may take to leave after `end`.
const LEAVE: Duration = Duration::from_millis(switchcost_analysis::LEAVE_MS);

/// Why reading stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reading {
    /// `end` arrived.
    Ended,
    /// The descriptor was closed by everybody, without `end`.
    Closed,
    /// Time was up.
    Deadline,
    /// A rule was broken.
    Fault(String),
    /// The user stopped the run.
    Interrupted,
}

/// What came of an invocation.
pub(crate) struct Outcome {
    pub transcript: Transcript,
    pub process: ProcessEnd,
    pub log: String,
    pub wall: Duration,
    pub exit: Option<switchcost_machine::spawn::Exit>,
    pub interrupted: bool,
}

/// Starts a probe with a clean environment.
pub(crate) fn start(
    info: &ProbeInfo,
    arguments: impl Fn(i32) -> Vec<String>,
    cpus: Option<&[u32]>,
    padding: u64,
) -> Result<Child, String> {
    let mut command = info.command.clone();
    let program = command.remove(0);
    let program = match program.strip_prefix("./") {
        Some(file) => info.folder.join(file),
        None => program.into(),
    };
    command.extend(arguments(spawn::REPORT_FD));
    // The size of the environment shifts the stack and with it alignment (Mytkowicz et al. 2009); so it is varied, not left to chance.
    let mut environment = vec![("SWITCHCOST_PADDING".to_owned(), "x".repeat(padding as usize))];
    let names = info.environment.iter().map(String::as_str).chain(spawn::ENVIRONMENT.iter().copied());
    environment.extend(names.filter_map(|name| Some((name.to_owned(), switchcost_machine::environment(name)?))));
    let request = SpawnRequest {
        program,
        arguments: command,
        environment,
        cpus: cpus.map(<[u32]>::to_vec),
        directory: Some(info.folder.clone()),
        report_fd: spawn::REPORT_FD,
    };
    Child::start(&request).map_err(|error| error.to_string())
}

/// Carries out a plan. Always returns with no process of the probe left.
pub(crate) fn invoke(
    info: &ProbeInfo,
    plan: &Plan,
    cpus: &[u32],
    padding: u64,
    interrupt: Option<&Interrupt>,
) -> Outcome {
    let began = Instant::now();
    let mut child = match start(info, |fd| run_arguments(plan, fd), Some(cpus), padding) {
        Ok(child) => child,
        Err(reason) => {
            return Outcome {
                transcript: Transcript::default(),
                process: ProcessEnd::NotStarted,
                log: reason,
                wall: began.elapsed(),
                exit: None,
                interrupted: false,
            };
        }
    };
    let deadline = began + Duration::from_millis(plan.deadline_ms);
    let mut reader = RunReader::default();
    let mut push = |bytes: &[u8]| -> Result<bool, String> {
        reader.push(bytes).map_err(|fault| fault.to_string())?;
        Ok(reader.ended())
    };
    let (reading, log) = read_until_end(&mut child, deadline, interrupt, &mut push);
    let left = match reading {
        Reading::Ended | Reading::Closed => child.wait_until(Instant::now() + LEAVE),
        _ => false,
    };
    let exit = child.finish();
    let process = match (&reading, exit.status) {
        (Reading::Deadline, _) => ProcessEnd::Deadline,
        (Reading::Fault(_) | Reading::Interrupted, _) => ProcessEnd::Stopped,
        (Reading::Ended | Reading::Closed, _) if !left => ProcessEnd::Deadline,
        (_, ExitStatus::Exited(status)) => ProcessEnd::Exited(status),
        (_, ExitStatus::Signalled(signal)) => ProcessEnd::Signalled(signal),
    };
    Outcome {
        transcript: reader.into_transcript(),
        process,
        log,
        wall: began.elapsed(),
        exit: Some(exit),
        interrupted: reading == Reading::Interrupted,
    }
}

/// Feeds what the probe reports to `push` (true: over) and keeps the tail of what it prints. Sleeps while there is nothing; never wakes by itself but at the deadline.
pub(crate) fn read_until_end(
    child: &mut Child,
    deadline: Instant,
    interrupt: Option<&Interrupt>,
    push: &mut dyn FnMut(&[u8]) -> Result<bool, String>,
) -> (Reading, String) {
    let mut log = Tail::default();
    let reading = loop {
        match child.listen(deadline, interrupt) {
            Heard::Time => break Reading::Deadline,
            Heard::Interrupted => break Reading::Interrupted,
            Heard::Closed => break Reading::Closed,
            Heard::Printed(bytes) => log.push(&bytes),
            Heard::Report(bytes) => match push(&bytes) {
                Ok(true) => break Reading::Ended,
                Ok(false) => {}
                Err(what) => break Reading::Fault(what),
            },
        }
    };
    // What was printed just before the end explains it.
    for _ in 0..LAST_WORDS {
        let Some(bytes) = child.printed() else { break };
        log.push(&bytes);
    }
    (reading, log.text())
}

/// The end of what was printed.
#[derive(Default)]
pub(crate) struct Tail(VecDeque<u8>);

impl Tail {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.0.extend(bytes);
        let excess = self.0.len().saturating_sub(LOG_BYTES);
        self.0.drain(..excess);
    }

    pub(crate) fn text(mut self) -> String {
        String::from_utf8_lossy(self.0.make_contiguous()).into_owned()
    }
}
