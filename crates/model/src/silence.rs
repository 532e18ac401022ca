//! Why a probe says nothing of what it measures, as data, and the one place that makes a clause of
//! it.

use crate::Fault;
use serde::{Deserialize, Serialize};

/// Why a probe did not say what it measures; its clause is what `Display` gives.
///
/// In JSON it is an object whose `kind` names the kind. `cause`: what the system said; `words`:
/// what the probe printed last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[allow(missing_docs, reason = "each clause says what its fields are")]
pub enum Silence {
    #[error("it was not asked")]
    NotAsked,
    #[error("the budget is too short to ask it what it measures")]
    ShortBudget,
    #[error("no answer to `describe` within {limit_ms} ms")]
    Slow { limit_ms: u64 },
    #[error("{cause}{}", if *not_built { "; build it (`make build` builds those of switchcost)" } else { "" })]
    NotStarted { cause: String, not_built: bool },
    #[error("{fault}")]
    Broken { fault: Box<Fault> },
    #[error("it wrote its messages to standard output; they belong to the descriptor of report_fd")]
    OnStandardOutput,
    #[error("{words}")]
    Ended { words: String },
    #[error(
        "{words}; probes do not get {variable}: build them again (`make build`), which records the folder of the compiler's libraries"
    )]
    Unlinked { words: String, variable: String },
    #[error("interrupted")]
    Interrupted,
    #[error("asking it failed; this is a fault of switchcost")]
    Failed,
}

impl From<Fault> for Silence {
    fn from(fault: Fault) -> Self {
        Self::Broken { fault: fault.into() }
    }
}

/// Limits of this session that are so low that they may be why something failed. `Display` gives a
/// sentence's end, or nothing where there are none.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TightLimits(pub Vec<TightLimit>);

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{limit} = {value} (raise it with {command})")]
pub struct TightLimit {
    /// As getrlimit(2) calls it.
    pub limit: String,
    /// What may be used of it.
    pub value: u64,
    /// What raises it.
    pub command: String,
}

impl TightLimits {
    /// None is low, or nobody tells.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl std::fmt::Display for TightLimits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let all: Vec<String> = self.0.iter().map(TightLimit::to_string).collect();
        if all.is_empty() { Ok(()) } else { write!(f, "; a limit of this session may be why: {}", all.join(", ")) }
    }
}
