//! Why a probe says nothing, and what would help.

use switchcost_machine::spawn::SpawnError;
use switchcost_model::{Silence, TightLimits};

/// Why a probe gave no answer, or could not be started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}{limits}")]
pub struct NoAnswer {
    /// What was found.
    pub why: Silence,
    /// A program or library that it needs is not here: packages may help. What was refused, or is
    /// slow, needs none.
    pub missing: bool,
    /// Limits that may be behind it.
    pub limits: TightLimits,
}

impl NoAnswer {
    pub(crate) fn new(why: Silence, missing: bool) -> Self {
        Self { why, missing, limits: TightLimits::default() }
    }

    /// More time is the cure.
    #[must_use]
    pub fn is_late(&self) -> bool {
        self.why == Silence::ShortBudget
    }
}

/// Nothing is missing.
impl From<Silence> for NoAnswer {
    fn from(why: Silence) -> Self {
        Self::new(why, false)
    }
}

impl From<SpawnError> for NoAnswer {
    fn from(error: SpawnError) -> Self {
        let missing =
            matches!(error, SpawnError::NotFound(_) | SpawnError::NotInPath(_) | SpawnError::NotExecutable(..));
        let not_built = matches!(error, SpawnError::NotFound(_));
        Self::new(Silence::NotStarted { cause: error.to_string(), not_built }, missing)
    }
}
