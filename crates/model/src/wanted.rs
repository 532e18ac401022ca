//! What a data file asks to be measured, before a probe is chosen.

use crate::{Experiment, MechanismId, Parameters, Placement, Timing};
use std::fmt;

/// A variant up to its probe; parameters that are not named have their defaults.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Wanted {
    /// What hands the CPU over.
    pub mechanism: MechanismId,
    /// What is measured of it.
    pub experiment: Experiment,
    /// Contexts; None: as many as `run` takes.
    pub contexts: Option<u64>,
    /// Where they run.
    pub placement: Placement,
    /// How time is read.
    pub timing: Timing,
    /// Parameters that differ from the defaults.
    pub parameters: Parameters,
}

impl Wanted {
    /// The mechanism as it is when nothing more is said: its switch, clock round batches, all
    /// defaults.
    #[must_use]
    pub fn plain(mechanism: MechanismId, placement: Placement) -> Self {
        Self {
            mechanism,
            experiment: Experiment::usual(),
            contexts: None,
            placement,
            timing: Timing::Batch,
            parameters: Parameters::new(),
        }
    }

    /// The command that measures it.
    #[must_use]
    pub fn command(&self) -> String {
        // What the name of a row leaves out may not be what its mechanism has first.
        let usual = if self.placement == Placement::usual() { format!(" {}", self.placement) } else { String::new() };
        let each = if self.timing == Timing::Each { format!(" {}", self.timing) } else { String::new() };
        format!("switchcost run '{self}{usual}{each}'")
    }
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.mechanism)?;
        if self.experiment != Experiment::usual() {
            write!(f, " {}", self.experiment)?;
        }
        for (name, value) in &self.parameters {
            write!(f, " {name}={value}")?;
        }
        if let Some(contexts) = self.contexts {
            write!(f, " contexts={contexts}")?;
        }
        if self.placement != Placement::usual() {
            write!(f, " {}", self.placement)?;
        }
        Ok(())
    }
}

/// So many times this variant, as a term of a sum.
#[derive(Debug, Clone, PartialEq)]
pub struct Term {
    /// What is measured.
    pub wanted: Wanted,
    /// How often it counts; negative in the terms that are taken away.
    pub times: f64,
    /// A count of the explained row's evidence, per unit, by which `times` is multiplied:
    /// `voluntary` or `involuntary` kernel switches, or a name of `Evidence::counts`.
    pub per: Option<String>,
}

/// A part of a mechanism's cost, as a difference of measured experiments.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    /// What the time goes into.
    pub name: String,
    /// Measured terms whose sum is the layer.
    pub terms: Vec<Term>,
    /// Why that difference is this layer.
    pub why: String,
}

/// A way to take a mechanism's cost apart.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// What is explained.
    pub total: Wanted,
    /// Its layers, from the bottom.
    pub layers: Vec<Layer>,
    /// The layers are its floor and no prediction of it: it cannot be taken apart without itself.
    pub floor_only: bool,
    /// What is thought of the rest.
    pub residue: Option<Residue>,
}

/// What the layers of a mechanism are expected to leave over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Residue {
    /// What it is, or may be: a name, since it is not measured.
    pub what: String,
    /// What would show whether that is so; empty where it is known.
    pub test: String,
}
