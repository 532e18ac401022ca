//! One `run`, as asked: read once, never changed. What calibration makes of it stands in the `plan` message.

use crate::refusal::Refusal;
use serde::Serialize;
use std::collections::BTreeMap;

/// A plan with every default filled in. What the `plan` message does not repeat is skipped.
#[derive(Debug, Clone, Serialize)]
pub struct Plan {
    pub(crate) mechanism: &'static str,
    /// What to measure of the mechanism.
    pub experiment: String,
    /// Size of the ring.
    pub contexts: u64,
    pub(crate) timing: String,
    pub(crate) cpus: Vec<u32>,
    #[serde(skip)]
    pub(crate) batch_units: u64,
    #[serde(skip)]
    pub(crate) batch_ns: u64,
    pub(crate) batches: u64,
    pub(crate) warmup_batches: u64,
    #[serde(skip)]
    pub(crate) verify_units: u64,
    /// Of whatever is drawn in a start; another in each.
    #[serde(skip)]
    pub seed: u64,
    /// Every parameter of the mechanism.
    pub parameters: BTreeMap<&'static str, String>,
}

impl Plan {
    /// Value of a parameter that the mechanism has.
    #[must_use]
    pub fn parameter(&self, name: &str) -> &str {
        self.parameters.get(name).map_or("", String::as_str)
    }

    /// Value of a parameter that is an integer; 0 for a mechanism that has no such parameter.
    #[must_use]
    pub fn number(&self, name: &str) -> u64 {
        self.parameter(name).parse().unwrap_or(0)
    }

    /// Size of a ring.
    ///
    /// # Errors
    /// One context is not a ring.
    pub fn ring(&self) -> Result<u64, Refusal> {
        match self.contexts {
            0 | 1 => Err(Refusal::refused("bad_value", "a ring needs at least two contexts: contexts=2 or more")),
            contexts => Ok(contexts),
        }
    }

    /// CPU of a context; None: the scheduler places it.
    #[must_use]
    pub fn cpu_of(&self, context: u64) -> Option<u32> {
        let turn = context.checked_rem(self.cpus.len() as u64)?;
        self.cpus.get(turn as usize).copied()
    }
}

/// A parameter of a mechanism.
#[derive(Debug)]
pub struct Parameter {
    /// Its key in the plan.
    pub name: &'static str,
    /// What it may be.
    pub kind: ParameterKind,
    /// Used when nothing is said.
    pub default: &'static str,
}

/// What a parameter may be.
#[derive(Debug)]
pub enum ParameterKind {
    /// One of these words.
    Words(&'static [&'static str]),
    /// An integer in this range.
    Integer {
        /// Lowest.
        min: u64,
        /// Highest.
        max: u64,
    },
}
