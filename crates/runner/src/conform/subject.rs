//! A mechanism that is checked.

use switchcost_model::{Described, Experiment, Mechanism};

/// A mechanism that is checked.
pub(super) struct Subject<'a> {
    pub(super) described: &'a Described,
    pub(super) mechanism: Option<&'a Mechanism>,
    pub(super) cpus: Vec<u32>,
}

impl Subject<'_> {
    /// A ring is passed round in `experiment`: its contexts take turns, which those of controls and
    /// two sides of one thread do not.
    pub(super) fn is_ring(&self, experiment: Experiment) -> bool {
        let takes_turns = self.mechanism.is_none_or(|mechanism| mechanism.evidence.turns != Some(false));
        experiment.ring && !self.is_control() && takes_turns
    }

    /// Without a page it is taken for none.
    pub(super) fn is_control(&self) -> bool {
        self.mechanism.is_some_and(|mechanism| mechanism.control)
    }
}
