//! Starting a tool of others: no protocol, only what it prints.

use crate::invoke::{Reading, read_until_end};
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use switchcost_analysis::last_words;
use switchcost_machine::spawn::{Child, ExitStatus, SpawnRequest};

/// Variables that programs expect; figures are to come with a point, whatever the user's language.
const ENVIRONMENT: [&str; 3] = ["PATH", "HOME", "TMPDIR"];

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

/// Runs a program on these CPUs to its end, or to the end of its time; its whole process group ends with it.
#[must_use]
pub fn run_peer(
    program: &Path,
    arguments: &[String],
    cpus: &[u32],
    timeout: Duration,
    interrupt: Option<BorrowedFd<'_>>,
) -> PeerOutcome {
    let mut environment = vec![("LC_ALL".to_owned(), "C".to_owned())];
    environment.extend(
        ENVIRONMENT.iter().filter_map(|name| Some(((*name).to_owned(), switchcost_machine::environment(name)?))),
    );
    let request = SpawnRequest {
        program: program.to_owned(),
        arguments: arguments.to_vec(),
        environment,
        cpus: Some(cpus.to_vec()),
        directory: Some(std::env::temp_dir()),
        report_fd: 3,
    };
    let deadline = Instant::now() + timeout;
    let child = match Child::start(&request) {
        Ok(child) => child,
        Err(error) => return PeerOutcome::Failed(error.to_string()),
    };
    // It knows nothing of our descriptor, which is closed when the last of its processes is gone.
    let (reading, printed) = read_until_end(&child, deadline, interrupt, &mut |_| Ok(false));
    let ended = reading == Reading::Closed && child.wait_until(deadline);
    let exit = child.finish();
    match (reading, exit.status) {
        (Reading::Interrupted, _) => PeerOutcome::Interrupted,
        _ if !ended => PeerOutcome::Failed(format!("it did not end within {} s", timeout.as_secs())),
        (_, ExitStatus::Exited(0)) => PeerOutcome::Printed(printed),
        (_, ExitStatus::Exited(status)) => {
            PeerOutcome::Failed(format!("it ended with status {status}: {}", end_of(&printed)))
        }
        (_, ExitStatus::Signalled(signal)) => PeerOutcome::Failed(format!("signal {signal} ended it")),
    }
}

/// Where a program is: in PATH, or in one of these folders.
#[must_use]
pub fn find_program(name: &str, folders: &[PathBuf]) -> Option<PathBuf> {
    let path = switchcost_machine::environment("PATH").unwrap_or_default();
    let candidates = std::env::split_paths(&path).chain(folders.iter().cloned()).map(|folder| folder.join(name));
    let executable = |file: &PathBuf| {
        use std::os::unix::fs::PermissionsExt;
        file.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    candidates.into_iter().find(executable)
}

fn end_of(printed: &str) -> String {
    last_words(printed).unwrap_or("it printed nothing").chars().filter(|c| !c.is_control()).take(120).collect()
}
