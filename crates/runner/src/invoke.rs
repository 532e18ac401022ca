//! One start of a probe: process, transcript, deadline.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};
use switchcost_machine::spawn::{Child, ExitStatus, SpawnRequest};
use switchcost_model::{Plan, ProbeInfo, ProcessEnd, Transcript};
use switchcost_protocol::{RunReader, run_arguments};

/// The descriptor on which probes report.
const REPORT_FD: i32 = 3;

/// How much of a probe's output is kept: its last words matter, not its first.
const LOG_BYTES: usize = 8 * 1024;

/// How long a probe may take to leave after `end`.
const LEAVE: Duration = Duration::from_millis(1500);

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
    command.extend(arguments(REPORT_FD));
    // The size of the environment shifts the stack and with it alignment (Mytkowicz et al. 2009); so it is varied, not left to chance.
    let mut environment = vec![("SWITCHCOST_PADDING".to_owned(), "x".repeat(padding as usize))];
    let names = info.environment.iter().map(String::as_str).chain(["PATH"]);
    environment.extend(names.filter_map(|name| Some((name.to_owned(), switchcost_machine::environment(name)?))));
    let request = SpawnRequest {
        program,
        arguments: command,
        environment,
        cpus: cpus.map(<[u32]>::to_vec),
        directory: Some(info.folder.clone()),
        report_fd: REPORT_FD,
    };
    Child::start(&request).map_err(|error| error.to_string())
}

/// Carries out a plan. Always returns with no process of the probe left.
pub(crate) fn invoke(
    info: &ProbeInfo,
    plan: &Plan,
    cpus: &[u32],
    padding: u64,
    interrupt: Option<BorrowedFd<'_>>,
) -> Outcome {
    let began = Instant::now();
    let child = match start(info, |fd| run_arguments(plan, fd), Some(cpus), padding) {
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
    let (reading, log) = read_until_end(&child, deadline, interrupt, &mut push);
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

/// Feeds what the probe reports to `push` (true: over) and keeps the tail of what it prints. Blocks in `poll`; never wakes by itself but at the deadline.
pub(crate) fn read_until_end(
    child: &Child,
    deadline: Instant,
    interrupt: Option<BorrowedFd<'_>>,
    push: &mut dyn FnMut(&[u8]) -> Result<bool, String>,
) -> (Reading, String) {
    let mut log = VecDeque::new();
    let mut log_open = true;
    let mut buffer = vec![0_u8; 64 * 1024];
    let reading = loop {
        let now = Instant::now();
        if now >= deadline {
            break Reading::Deadline;
        }
        let mut fds = vec![PollFd::new(child.report(), PollFlags::IN)];
        let interrupt_at = interrupt.map(|fd| {
            fds.push(PollFd::from_borrowed_fd(fd, PollFlags::IN));
            fds.len() - 1
        });
        let log_at = log_open.then(|| {
            fds.push(PollFd::new(child.log(), PollFlags::IN));
            fds.len() - 1
        });
        let wait = deadline - now;
        let timeout = Timespec { tv_sec: wait.as_secs() as i64, tv_nsec: i64::from(wait.subsec_nanos()) };
        if poll(&mut fds, Some(&timeout)).is_err() {
            continue; // EINTR; the deadline bounds the loop.
        }
        let ready = |index: usize| !fds[index].revents().is_empty();
        if interrupt_at.is_some_and(ready) {
            break Reading::Interrupted;
        }
        if log_at.is_some_and(ready) {
            log_open = keep_tail(child.log().as_fd(), &mut buffer, &mut log);
        }
        if ready(0) {
            match rustix::io::read(child.report(), &mut buffer) {
                Ok(0) => break Reading::Closed,
                Ok(count) => match push(&buffer[..count]) {
                    Ok(true) => break Reading::Ended,
                    Ok(false) => {}
                    Err(what) => break Reading::Fault(what),
                },
                Err(_) => {} // EAGAIN or EINTR: poll again.
            }
        }
    };
    // What was printed just before the end explains it.
    while log_open && log_waits(child) {
        log_open = keep_tail(child.log().as_fd(), &mut buffer, &mut log);
    }
    (reading, String::from_utf8_lossy(log.make_contiguous()).into_owned())
}

fn log_waits(child: &Child) -> bool {
    let mut fds = [PollFd::new(child.log(), PollFlags::IN)];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut fds, Some(&now)).is_ok_and(|count| count > 0)
}

/// Reads once; false when everybody has closed the log.
fn keep_tail(fd: BorrowedFd<'_>, buffer: &mut [u8], log: &mut VecDeque<u8>) -> bool {
    match rustix::io::read(fd, &mut *buffer) {
        Ok(0) => false,
        Ok(count) => {
            log.extend(&buffer[..count]);
            let excess = log.len().saturating_sub(LOG_BYTES);
            log.drain(..excess);
            true
        }
        Err(_) => true,
    }
}
