//! Exit statuses, documented in `--help`.

use std::fmt::Display;
use std::process::ExitCode;

/// Why the process ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// All is well.
    Fine,
    /// A gate found a difference, or an unfit machine.
    Difference,
    /// A flag, a file or the store cannot be used.
    Usage,
    /// Nothing could be measured.
    Nothing,
    /// Some of it: deadline, Ctrl-C, broken probes.
    Partial,
    /// Evidence contradicts a claim.
    Contradicted,
    /// A probe or a transcript breaks a rule of PROTOCOL.md.
    BrokenRule,
    /// A gate that the data neither passes nor fails.
    Inconclusive,
    /// A fault of switchcost.
    Internal,
    /// As another program documents it.
    Other(u8),
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Fine => 0,
            Exit::Difference => 1,
            Exit::Usage => 2,
            Exit::Nothing => 3,
            Exit::Partial => 4,
            Exit::Contradicted => 5,
            Exit::BrokenRule => 6,
            Exit::Inconclusive => 7,
            Exit::Internal => 70,
            Exit::Other(status) => status,
        })
    }
}

/// The status of a command in a few words, beside 0 and 2, which every command may end with.
#[must_use]
pub fn described(statuses: &[u8]) -> String {
    let words = |status: &u8| match status {
        1 => "1 a gate failed",
        3 => "3 nothing measured",
        4 => "4 partial",
        5 => "5 evidence contradicts a claim",
        6 => "6 a rule is broken",
        _ => "7 a gate is inconclusive",
    };
    let own = statuses.iter().map(words);
    format!("Exit status: {}", ["0 fine", "2 usage error"].into_iter().chain(own).collect::<Vec<_>>().join(", "))
}

/// Ends the long help of the program.
pub const HELP: &str = "Exit status:
  0   fine
  1   a gate failed: B costs more by more than its limit, or a finding of doctor is too severe
  2   usage error: a flag, a file or the store cannot be used
  3   nothing could be measured
  4   partial: a deadline, or a budget too short for the rounds asked; or a probe broke.
      Ctrl-C stores and prints what there is, then ends by the signal (130 in a shell)
  5   evidence contradicts a claim: do not use that figure
  6   a probe breaks a rule of PROTOCOL.md (check-probe)
  7   a gate is inconclusive: what was measured neither passes nor fails it
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

    /// There is nothing to answer with.
    pub fn nothing(sentence: impl Display) -> Self {
        Self { sentence: sentence.to_string(), exit: Exit::Nothing }
    }

    /// The session refuses what it cannot do without; a limit of it may be why.
    pub fn refused(what: &str, error: impl Display) -> Self {
        Self::nothing(format!("{what}: {error}{}", switchcost_machine::tight_limits()))
    }

    /// Only a part was done.
    pub fn partial(sentence: impl Display) -> Self {
        Self { sentence: sentence.to_string(), exit: Exit::Partial }
    }
}
