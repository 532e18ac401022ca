//! Exit statuses, documented in `--help`.

use std::fmt::Display;
use std::process::ExitCode;

/// Why the process ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// All is well.
    Fine = 0,
    /// A gate found a difference.
    Difference = 1,
    /// A flag, a file or the store cannot be used.
    Usage = 2,
    /// Nothing could be measured.
    Nothing = 3,
    /// Some of it: deadline, Ctrl-C, broken probes.
    Partial = 4,
    /// Evidence contradicts a claim.
    Contradicted = 5,
    /// A fault of switchcost.
    Internal = 70,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Shown at the end of `--help`.
pub const HELP: &str = "Exit status:
  0   fine
  1   a difference or regression found by a gate
  2   usage: a flag, a file or the store cannot be used
  3   nothing could be measured
  4   partial: stopped by Ctrl-C, deadline or budget, or a probe broke
  5   evidence contradicts a claim: do not use that figure
  70  internal fault";

/// One sentence for people, and the status.
#[derive(Debug)]
pub struct Failure {
    /// Names the flag or file, the reason and the cure.
    pub sentence: String,
    /// Status.
    pub exit: Exit,
}

impl Failure {
    /// A failure of use.
    pub fn usage(sentence: impl Display) -> Self {
        Self { sentence: sentence.to_string(), exit: Exit::Usage }
    }

    /// A failure that should not be.
    pub fn internal(sentence: impl Display) -> Self {
        Self { sentence: sentence.to_string(), exit: Exit::Internal }
    }
}
