//! Why a probe says nothing.

use switchcost_machine::spawn::SpawnError;

const LATE: &str = "the budget is too short to ask it what it measures";

/// Why a probe gave no answer, or could not be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoAnswer {
    /// A clause.
    pub why: String,
    /// A program or library that it needs is not here: packages may help. What was refused, or is slow, needs none.
    pub missing: bool,
}

impl NoAnswer {
    /// Nothing is missing.
    pub(crate) fn here(why: impl Into<String>) -> Self {
        Self { why: why.into(), missing: false }
    }

    /// The budget ended before it answered.
    pub(crate) fn late() -> Self {
        Self::here(LATE)
    }

    /// More time is the cure.
    #[must_use]
    pub fn is_late(&self) -> bool {
        self.why.starts_with(LATE)
    }
}

impl std::fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.why)
    }
}

impl From<SpawnError> for NoAnswer {
    fn from(error: SpawnError) -> Self {
        let missing =
            matches!(error, SpawnError::NotFound(_) | SpawnError::NotInPath(_) | SpawnError::NotExecutable(..));
        let built = if matches!(error, SpawnError::NotFound(_)) {
            "; build it (`make build` builds those of switchcost)"
        } else {
            ""
        };
        Self { why: format!("{error}{built}"), missing }
    }
}
