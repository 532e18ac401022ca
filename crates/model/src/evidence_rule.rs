//! What the evidence of an invocation must show.

use crate::{Experiment, Parameters, Placement, Sight, Variant};
use std::collections::BTreeMap;

/// What must hold for the claim of one variant to be believed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EvidenceRule {
    /// Every context counts its turns.
    pub turns: bool,
    /// Kernel switches per unit, lowest and highest; None: any.
    pub kernel_switches: Option<(f64, f64)>,
    /// Distinct address spaces, exactly; None: not asked.
    pub address_spaces: Option<u64>,
    /// Share of hops that stay on one CPU, lowest and highest.
    pub same_cpu_hops: Option<(f64, f64)>,
    /// Further counts (`Evidence::counts`) with lowest and highest value per unit.
    pub counts: BTreeMap<String, (f64, f64)>,
    /// Counts that must reach a total, however many units there were.
    pub at_least: BTreeMap<String, i64>,
    /// As `at_least`, of a state of the machine that others may keep from coming about: below,
    /// there is no figure of that state, and no lie.
    pub reached: BTreeMap<String, i64>,
    /// Counts that grow by so much, at least, before each switch of a context's own accord.
    pub per_block: BTreeMap<String, u64>,
    /// What the host must see itself, at least so many.
    pub seen: BTreeMap<Sight, u64>,
    /// Contexts wait for their turn in the kernel, so that switches of their own accord are among
    /// those that it counts.
    pub blocks: bool,
    /// Tasks made on the whole machine per unit, at least.
    pub seen_forks: Option<f64>,
    /// CPU time that the runtime and all contexts may use after the plan and outside the batches,
    /// ms; 0: as little as any.
    pub leaving_ms: u64,
    /// CPU time of the contexts per time of the batches, at most.
    pub most_busy: Option<f64>,
    /// The token is meant to change the OS thread: where every hop stayed on one, the row says so.
    pub threads_change: bool,
    /// The contexts run where no CPU of a switch can be told from here, so that none is asked for.
    pub hops_hidden: bool,
    /// Said with the row when the kernel's factor is not 1.
    pub note: String,
    /// Said with the row when one of these counts is 0; empty: nothing.
    pub without: BTreeMap<String, String>,
    /// Said with the row of these counts, `{}` for the share of the units.
    pub tells: BTreeMap<String, String>,
}

/// A number that a rule asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RuleNumber {
    /// The same whatever the variant.
    Fixed(u64),
    /// As many as the variant has contexts.
    Contexts,
    /// So many more than the value of a parameter; the least there can be where the variant has no
    /// such number.
    Parameter {
        /// Its name.
        name: String,
        /// So many more.
        more: u64,
    },
}

impl RuleNumber {
    fn of(&self, variant: &Variant) -> u64 {
        match self {
            Self::Fixed(number) => *number,
            Self::Contexts => variant.contexts,
            Self::Parameter { name, more } => {
                let value = variant.parameters.get(name).and_then(|value| value.parse().ok());
                value.unwrap_or(0u64).saturating_add(*more)
            }
        }
    }
}

/// What one table of a mechanism's file says of a rule. What it does not name stays as it was.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EvidenceChange {
    /// As in [`EvidenceRule`].
    pub turns: Option<bool>,
    /// As in [`EvidenceRule`]; Some(None): any from here on.
    pub kernel_switches: Option<Option<(f64, f64)>>,
    /// As in [`EvidenceRule`].
    pub address_spaces: Option<RuleNumber>,
    /// As in [`EvidenceRule`].
    pub same_cpu_hops: Option<(f64, f64)>,
    /// As in [`EvidenceRule`]; joins those that were there.
    pub counts: BTreeMap<String, (f64, f64)>,
    /// As in [`EvidenceRule`]; joins those that were there.
    pub at_least: BTreeMap<String, RuleNumber>,
    /// As in [`EvidenceRule`]; joins those that were there.
    pub reached: BTreeMap<String, RuleNumber>,
    /// As in [`EvidenceRule`]; joins those that were there.
    pub seen: BTreeMap<Sight, RuleNumber>,
    /// As in [`EvidenceRule`].
    pub blocks: Option<bool>,
    /// As in [`EvidenceRule`].
    pub seen_forks: Option<f64>,
    /// As in [`EvidenceRule`].
    pub most_busy: Option<f64>,
    /// What each context adds to [`EvidenceRule::leaving_ms`].
    pub leaving_ms_each: Option<u64>,
    /// As in [`EvidenceRule`].
    pub threads_change: Option<bool>,
    /// As in [`EvidenceRule`].
    pub hops_hidden: Option<bool>,
    /// As in [`EvidenceRule`].
    pub note: Option<String>,
    /// As in [`EvidenceRule`]; joins those that were there.
    pub without: BTreeMap<String, String>,
    /// As in [`EvidenceRule`]; joins those that were there.
    pub tells: BTreeMap<String, String>,
}

/// When a change of the general rule applies.
#[derive(Debug, Clone, PartialEq)]
pub struct EvidenceCase {
    /// Only for this placement, and for pairs of CPUs that are a case of it.
    pub placement: Option<Placement>,
    /// Only for this experiment.
    pub experiment: Option<Experiment>,
    /// Only for a ring of this many.
    pub contexts: Option<u64>,
    /// Only when these parameters have these values, or, of `!VALUE`, others.
    pub parameters: Parameters,
    /// What it changes.
    pub change: EvidenceChange,
}

impl EvidenceCase {
    pub(crate) fn applies(&self, variant: &Variant) -> bool {
        self.placement.is_none_or(|placement| placement == variant.placement || placement == variant.placement.kind())
            && self.experiment.is_none_or(|experiment| experiment == variant.experiment)
            && self.contexts.is_none_or(|contexts| contexts == variant.contexts)
            && self.parameters.iter().all(|(name, value)| match value.strip_prefix('!') {
                Some(other) => variant.parameters.get(name).is_some_and(|value| value != other),
                None => variant.parameters.get(name) == Some(value),
            })
    }
}

impl EvidenceRule {
    /// Lays a change over the rule. What it says of a ring of contexts (how many there are, where
    /// they run, how busy they are) holds only where there is one, or where it was said for this
    /// very experiment (`ring`).
    pub(crate) fn lay(&mut self, change: &EvidenceChange, variant: &Variant, ring: bool) {
        self.turns = change.turns.unwrap_or(self.turns);
        self.kernel_switches = change.kernel_switches.unwrap_or(self.kernel_switches);
        self.same_cpu_hops = change.same_cpu_hops.or(self.same_cpu_hops);
        self.counts.extend(change.counts.clone());
        self.hops_hidden = change.hops_hidden.unwrap_or(self.hops_hidden);
        self.seen_forks = change.seen_forks.or(self.seen_forks);
        if let Some(note) = &change.note {
            self.note.clone_from(note);
        }
        self.without.extend(change.without.clone());
        self.tells.extend(change.tells.clone());
        if !ring {
            return;
        }
        let number = |number: &RuleNumber| number.of(variant);
        let total = |number: &RuleNumber| i64::try_from(number.of(variant)).unwrap_or(i64::MAX);
        self.address_spaces = change.address_spaces.as_ref().map(number).or(self.address_spaces);
        self.at_least.extend(change.at_least.iter().map(|(name, least)| (name.clone(), total(least))));
        self.reached.extend(change.reached.iter().map(|(name, least)| (name.clone(), total(least))));
        self.seen.extend(change.seen.iter().map(|(sight, least)| (sight.clone(), number(least))));
        self.blocks = change.blocks.unwrap_or(self.blocks);
        self.threads_change = change.threads_change.unwrap_or(self.threads_change);
        self.most_busy = change.most_busy.or(self.most_busy);
        self.leaving_ms = change.leaving_ms_each.map_or(self.leaving_ms, |each| each.saturating_mul(variant.contexts));
    }
}
