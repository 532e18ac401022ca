//! What the host concludes from the evidence.

use crate::id::words;
use crate::{IdError, Reason, TightLimits};
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
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// Conclusion.
    pub verdict: Verdict,
    /// Why; None for verified.
    pub reason: Option<Reason>,
}

impl Judgement {
    /// Nothing speaks against it.
    pub const VERIFIED: Self = Self { verdict: Verdict::Verified, reason: None };

    /// Another verdict, with its reason.
    #[must_use]
    pub fn new(verdict: Verdict, reason: Reason) -> Self {
        Self { verdict, reason: Some(reason) }
    }

    /// With the limits that may be why a probe ended before it had answered.
    #[must_use]
    pub fn in_limits(mut self, tight: impl FnOnce() -> TightLimits) -> Self {
        if let Some(Reason::Killed { limits, .. } | Reason::EndedEarly { limits, .. }) = &mut self.reason {
            *limits = tight();
        }
        self
    }
}
