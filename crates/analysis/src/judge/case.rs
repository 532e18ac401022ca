//! What the rules of the judge look at.

use super::constants::Constants;
use switchcost_model::{Evidence, EvidenceRule, Experiment, Plan, PlanEcho, ProcessEnd, Seen, Transcript};

/// What every part of the judge looks at: a complete answer of status `ok`.
#[derive(Clone, Copy)]
pub(crate) struct Case<'a> {
    pub(super) constants: &'a Constants,
    pub(super) rule: &'a EvidenceRule,
    pub(super) plan: &'a Plan,
    pub(super) echo: &'a PlanEcho,
    pub(super) transcript: &'a Transcript,
    pub(super) evidence: &'a Evidence,
    pub(super) seen: Option<&'a Seen>,
    pub(super) bound: &'a Bounds,
}

impl Case<'_> {
    pub(super) fn experiment(&self) -> Experiment {
        self.plan.variant.experiment
    }

    /// A ring whose contexts take turns, so that order, token and CPUs of hops exist.
    pub(super) fn is_ring(&self) -> bool {
        self.experiment().ring && self.rule.turns
    }
}

/// One answer of a probe, and what the host saw of it.
#[derive(Debug, Clone, Copy)]
pub struct ProbeAnswer<'a> {
    /// What the probe said.
    pub transcript: &'a Transcript,
    /// How its process ended.
    pub process: ProcessEnd,
    /// The end of what it printed.
    pub log: &'a str,
    /// What the host saw by itself.
    pub seen: Option<&'a Seen>,
    /// What no unit of the mechanism can be faster than.
    pub bound: &'a Bounds,
}

/// What bounds the units of a row from below.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Bounds {
    /// A loop that does less.
    pub control: Bound,
    /// What a unit contains, where the run measured it.
    pub content: Option<Content>,
}

/// What every unit contains, as rows of the same run say.
#[derive(Debug, Clone, PartialEq)]
pub struct Content {
    /// The rows.
    pub of: String,
    /// ns that a unit takes at least.
    pub least_ns: f64,
}

/// A control that does less than any unit of a mechanism.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Bound {
    /// The mechanism's page names none.
    #[default]
    None,
    /// The page names some, of which the run has no verified start.
    Unmeasured,
    /// As the run measured it.
    Measured {
        /// Its mechanism.
        mechanism: String,
        /// Its fastest batch, ns per iteration.
        ns: f64,
        /// Starts that it was measured in.
        starts: usize,
    },
}
