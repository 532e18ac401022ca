//! What a part of the host brings to the judge.

use super::super::case::Case;
use std::collections::BTreeMap;
use switchcost_model::{Invocation, Reason, Remark, Seen};

/// What is judged and told of a start by what the host saw of it in its part.
pub(crate) struct Rules {
    /// Without it there is no answer.
    pub(crate) unusable: fn(Option<&Seen>) -> Option<Reason>,
    /// What the row asks of the host could not be had.
    pub(crate) refused: fn(&Case<'_>) -> Option<Reason>,
    /// It speaks against the probe's claim.
    pub(crate) contradiction: fn(&Case<'_>) -> Option<Reason>,
    /// The probe could not do what was asked, and says so honestly.
    pub(crate) overloaded: fn(&Case<'_>) -> Option<Reason>,
    /// What the rules need and nobody saw.
    pub(crate) missing: fn(&Case<'_>) -> Option<Reason>,
    /// The host did something for its own look that takes time: the start is in no figure.
    pub(crate) in_no_figure: fn(&Seen) -> bool,
    /// What it saw of a row's starts.
    pub(crate) remark: fn(&[&Invocation]) -> Option<Remark>,
    /// What the row sought and what came of it, told in every form.
    pub(crate) answer: fn(&[&Invocation]) -> Vec<Remark>,
    /// It has found what the row sought.
    pub(crate) found: fn(&Seen) -> bool,
    /// What a unit's figure is made of, by name.
    pub(crate) made_of: fn(&Seen) -> Option<BTreeMap<String, f64>>,
    /// Which functions make the system calls of a unit.
    pub(crate) callers: fn(&Seen) -> Option<BTreeMap<String, f64>>,
}

impl Rules {
    /// Of a part that has none.
    pub(crate) const NONE: Self = Self {
        unusable: |_| None,
        refused: |_| None,
        contradiction: |_| None,
        overloaded: |_| None,
        missing: |_| None,
        in_no_figure: |_| false,
        remark: |_| None,
        answer: |_| Vec::new(),
        found: |_| false,
        made_of: |_| None,
        callers: |_| None,
    };
}
