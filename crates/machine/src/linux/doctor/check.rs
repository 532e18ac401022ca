//! What a check looks at, and what it says.

use super::sizes::Sizes;
use crate::os::host::Host;
use switchcost_model::Severity;

/// What a check may look at.
pub(crate) struct Subject<'a> {
    pub(super) host: &'a Host,
    pub(super) sizes: &'a Sizes,
}

/// One thing to look at.
pub(crate) struct Check {
    pub(super) id: &'static str,
    pub(super) look: fn(&Subject<'_>) -> Answer,
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

/// A size in words, or that it is not known.
pub(super) fn about(size: Option<f64>, unit: &str) -> String {
    match size {
        Some(size) if size >= 100.0 => format!("about {size:.0} {unit}"),
        Some(size) if size >= 1.0 => format!("about {size:.1} {unit}"),
        Some(size) => format!("about {size:.2} {unit}"),
        None => format!("an unknown number of {unit}"),
    }
}
