//! Why a probe says nothing.

use switchcost_machine::spawn::SpawnError;

/// Why a probe gave no answer, or could not be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoAnswer {
    /// A clause.
    pub why: String,
    /// A program or library that it needs is not here: packages may help. What was refused, or is slow, needs none.
    pub missing: bool,
    pub(crate) late: bool,
}

impl NoAnswer {
    /// Nothing is missing.
    pub(crate) fn here(why: impl Into<String>) -> Self {
        Self::new(why, false)
    }

    pub(crate) fn new(why: impl Into<String>, missing: bool) -> Self {
        Self { why: why.into(), missing, late: false }
    }

    /// The budget ended before it answered.
    pub(crate) fn late() -> Self {
        Self { late: true, ..Self::here("the budget is too short to ask it what it measures") }
    }

    /// More time is the cure.
    #[must_use]
    pub fn is_late(&self) -> bool {
        self.late
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
        Self::new(format!("{error}{built}"), missing)
    }
}
