//! What a check looks at, and what it says.

use super::sizes::Sizes;
use crate::os::host::Host;
use switchcost_model::{Quantity, Severity};

/// What a check may look at.
pub(crate) struct Subject<'a> {
    pub(super) host: &'a Host,
    pub(super) sizes: &'a Sizes,
}

/// One thing to look at.
pub(crate) struct Check {
    pub(super) id: &'static str,
    pub(super) find: fn(&Subject<'_>) -> Answer,
}

/// What a check says.
pub(crate) struct Answer {
    pub(super) severity: Severity,
    pub(super) what: String,
    pub(super) effect: String,
    pub(super) cure: String,
}

impl Answer {
    pub(super) fn fine(what: impl Into<String>) -> Self {
        Self { severity: Severity::Fine, what: what.into(), effect: String::new(), cure: String::new() }
    }

    pub(super) fn note(what: impl Into<String>, effect: impl Into<String>, cure: impl Into<String>) -> Self {
        Self { severity: Severity::Note, what: what.into(), effect: effect.into(), cure: cure.into() }
    }

    pub(super) fn warning(what: impl Into<String>, effect: impl Into<String>, cure: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, what: what.into(), effect: effect.into(), cure: cure.into() }
    }
}

/// A time in words, or that it is not known.
pub(super) fn about(ns: Option<f64>) -> String {
    ns.map_or_else(|| "an unknown time".to_owned(), |ns| format!("about {}", Quantity::TIME.amount(ns)))
}

/// The same of µs.
pub(super) fn about_us(us: Option<f64>) -> String {
    about(us.map(|us| us * 1000.0))
}
