//! Why a run does not take place, or came to nothing.

use std::{fmt, io};

/// What the `end` message says of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    pub(crate) status: &'static str,
    pub(crate) code: &'static str,
    pub(crate) detail: String,
}

impl Refusal {
    /// The plan is bad.
    #[must_use]
    pub fn refused(code: &'static str, detail: impl Into<String>) -> Self {
        Self { status: "refused", code, detail: detail.into() }
    }

    /// The plan is fine, but this machine cannot carry it out.
    #[must_use]
    pub fn unsupported(code: &'static str, detail: impl Into<String>) -> Self {
        Self { status: "unsupported", code, detail: detail.into() }
    }

    /// Something broke.
    #[must_use]
    pub fn failed(code: &'static str, detail: impl Into<String>) -> Self {
        Self { status: "failed", code, detail: detail.into() }
    }

    /// Whether the process must end with a status other than 0.
    #[must_use]
    pub fn is_fault(&self) -> bool {
        self.status != "unsupported"
    }
}

/// The sentence for people.
impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.detail)
    }
}

/// Why a run ends before it has said that all went well.
#[derive(Debug)]
pub enum Stop {
    /// The host is told.
    Refused(Refusal),
    /// The host no longer listens.
    Unheard(io::Error),
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Unheard(error)
    }
}
