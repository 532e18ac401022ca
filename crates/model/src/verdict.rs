//! What the host concludes from the evidence.

use crate::IdError;
use crate::id::words;
use std::fmt;
use std::str::FromStr;

/// Conclusion about one invocation or one variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// The evidence shows that the claimed switches happened as described.
    Verified,
    /// A counter that the rule needs cannot be read here.
    Unobservable,
    /// The mechanism cannot run here.
    Unsupported,
    /// The run ended before its first invocation was done; never of an invocation.
    Unmeasured,
    /// No usable answer: crash, deadline, garbage.
    Broken,
    /// The evidence says otherwise than the claim.
    Contradicted,
}
words!(Verdict, "verdict",
    Verified => "verified", Unobservable => "unobservable", Unsupported => "unsupported",
    Unmeasured => "unmeasured", Broken => "broken", Contradicted => "contradicted");

/// Verdict with its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// Conclusion.
    pub verdict: Verdict,
    /// One sentence; empty for verified.
    pub reason: String,
}

impl Judgement {
    /// A verdict with a reason.
    #[must_use]
    pub fn new(verdict: Verdict, reason: impl Into<String>) -> Self {
        Self { verdict, reason: reason.into() }
    }
}
