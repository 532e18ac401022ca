//! Starting another tool: no protocol, only what it prints.

use std::collections::VecDeque;
use std::path::Path;
use std::time::{Duration, Instant};
use switchcost_analysis::last_words;
use switchcost_machine::interrupt::Interrupt;
use switchcost_machine::load::{HogPlan, Scheduling};
use switchcost_machine::spawn::{Child, ExitStatus, Heard, SpawnRequest};
use switchcost_model::harmless;

/// Variables that programs expect; figures are to come with a point, whatever the user's language.
const ENVIRONMENT: [&str; 2] = ["HOME", "TMPDIR"];

/// How much of what it prints is kept, of the beginning and of the end: a histogram of some
/// thousand lines.
const KEPT_BYTES: usize = 64 * 1024;

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PeerOutcome {
    /// It ended with status 0 and printed this (the tail of it, if it was much).
    Printed(String),
    /// It failed; a clause that says how.
    Failed(String),
    /// The user wants to stop.
    Interrupted,
}

/// Runs a program on these CPUs to its end, or to the end of its time; its whole process group ends
/// with it. `hogs`: tasks beside it that want each of these CPUs.
#[must_use]
pub fn run_peer(
    program: &Path,
    arguments: &[String],
    cpus: &[u32],
    hogs: u64,
    timeout: Duration,
    interrupt: Option<&Interrupt>,
) -> PeerOutcome {
    let mut request = SpawnRequest {
        cpus: Some(cpus.to_vec()),
        directory: Some(std::env::temp_dir()),
        hogs: (hogs > 0).then(|| HogPlan {
            cpus: cpus.to_vec(),
            each: u32::try_from(hogs).unwrap_or(u32::MAX),
            forking: false,
            scheduling: Scheduling::USUAL,
        }),
        ..SpawnRequest::of(program, arguments.to_vec(), &ENVIRONMENT)
    };
    request.environment.push(("LC_ALL".to_owned(), "C".to_owned()));
    let deadline = Instant::now() + timeout;
    let mut child = match Child::start(&request) {
        Ok(child) => child,
        Err(error) => return PeerOutcome::Failed(error.to_string()),
    };
    if let Err(missing) = child.release_hogs() {
        return PeerOutcome::Failed(format!("{missing} of {hogs} hogs beside it did not start"));
    }
    let (over, first, printed) = heard(&mut child, deadline, interrupt);
    let ended = matches!(over, Heard::Closed) && child.wait_until(deadline);
    let exit = child.finish();
    match (over, exit.status) {
        (Heard::Interrupted, _) => PeerOutcome::Interrupted,
        _ if !ended => PeerOutcome::Failed(format!("it did not end within {} s", timeout.as_secs())),
        (_, ExitStatus::Exited(0)) => PeerOutcome::Printed(printed),
        (_, ExitStatus::Exited(status)) => {
            PeerOutcome::Failed(format!("it ended with status {status}: {}", ends_of(&first, &printed)))
        }
        (_, ExitStatus::Signalled(signal)) => PeerOutcome::Failed(format!("signal {signal} ended it")),
        (_, ExitStatus::Unknown) => PeerOutcome::Failed("how it ended could not be learned".to_owned()),
    }
}

/// The beginning and the end of what it printed until the last of its processes was gone, and why
/// that was all. It knows nothing of our descriptor; where that is its standard output, what it
/// says is there.
fn heard(child: &mut Child, deadline: Instant, interrupt: Option<&Interrupt>) -> (Heard, String, String) {
    let (mut head, mut tail) = (Vec::new(), VecDeque::new());
    let over = child.hear(deadline, interrupt, |bytes| {
        head.extend(bytes.iter().take(KEPT_BYTES.saturating_sub(head.len())));
        tail.extend(bytes);
        tail.drain(..tail.len().saturating_sub(KEPT_BYTES));
        deadline
    });
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (over, text(&head), text(tail.make_contiguous()))
}

/// Its last words, behind its first line: what failed stands in the one with some programs, with
/// others in the other.
fn ends_of(first: &str, printed: &str) -> String {
    let first = first.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("it printed nothing");
    let last = last_words(printed).unwrap_or_else(|| first.to_owned());
    harmless(&if first == last { last } else { format!("{first} … {last}") })
}

#[cfg(test)]
mod tests {
    use super::ends_of;

    #[test]
    fn a_failure_is_told_by_its_first_and_its_last_line() {
        let perf = "\nWARNING: perf not found for kernel 5.15\n\n  You may need:\n    linux-tools\n";
        assert_eq!(ends_of(perf, perf), "WARNING: perf not found for kernel 5.15 … linux-tools");
        assert_eq!(ends_of("cut off\nthe end\n", "the end\n"), "cut off … the end");
        assert_eq!(ends_of("alone\n", "alone\n"), "alone");
        assert_eq!(ends_of("", ""), "it printed nothing");
    }
}
