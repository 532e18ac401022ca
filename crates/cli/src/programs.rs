//! Other programs: run to their end, with the user's environment, so that nothing of them is left.

use std::collections::VecDeque;
use std::path::Path;
use std::time::{Duration, Instant};
use switchcost_machine::interrupt::Interrupt;
use switchcost_machine::spawn::{Child, ExitStatus, Heard, SpawnRequest};
use switchcost_session::Failure;

/// By these git, which sets them for a hook, would do all in the one work tree.
pub const OF_A_HOOK: [&str; 3] = ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"];

/// What a program printed, and whether it ended well.
#[derive(Debug, Default)]
pub struct Said {
    /// Its standard output and error, of which the end is kept.
    pub text: String,
    /// It returned 0.
    pub well: bool,
}

impl Said {
    /// Its text without white space around it, if it ended well.
    pub fn ok_or(self, refused: impl FnOnce(&str) -> Failure) -> Result<String, Failure> {
        if self.well { Ok(self.text.trim().to_owned()) } else { Err(refused(&self.text)) }
    }
}

/// Runs a program in a folder to its end or to Ctrl-C, but not beyond its time; of what it prints
/// the last `kept` bytes are kept.
pub fn run(
    program: &str,
    words: &[&str],
    folder: &Path,
    time: Duration,
    kept: usize,
    interrupt: &Interrupt,
) -> Result<Said, Failure> {
    let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    let variables = std::env::vars_os().filter_map(text);
    let words = words.iter().map(|word| (*word).to_owned()).collect();
    let request = SpawnRequest {
        environment: variables.filter(|(name, _)| !OF_A_HOOK.contains(&name.as_str())).collect(),
        directory: Some(folder.to_owned()),
        ..SpawnRequest::of(program, words, &[])
    };
    let mut child = Child::start(&request).map_err(|error| Failure::usage(format!("{error}; install {program}")))?;
    let mut tail = VecDeque::new();
    let end = Instant::now() + time;
    let over = child.hear(end, Some(interrupt), |bytes| {
        tail.extend(bytes);
        tail.drain(..tail.len().saturating_sub(kept));
        end
    });
    if over == Heard::Closed {
        let _ = child.wait_until(end);
    }
    let exit = child.finish();
    if over == Heard::Interrupted {
        return Err(Failure::partial(format!("stopped while `{program}` ran")));
    }
    let text = String::from_utf8_lossy(tail.make_contiguous()).into_owned();
    Ok(Said { text, well: exit.status == ExitStatus::Exited(0) })
}
