//! One `run`, as asked: read once, never changed. What calibration makes of it stands in the `plan`
//! message.

use serde::Serialize;
use std::collections::BTreeMap;

/// What the host asks for. What the `plan` message does not repeat is skipped.
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

    /// Each unit is timed, not a batch of them.
    #[must_use]
    pub fn each(&self) -> bool {
        self.timing == "each"
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
    /// What it may be; none: an integer.
    pub words: &'static [&'static str],
}

#[cfg(test)]
impl Plan {
    /// For tests, which change what they need.
    pub(crate) fn of_tests() -> Self {
        Self {
            mechanism: "a/b",
            experiment: "switch".into(),
            contexts: 3,
            timing: "batch".into(),
            cpus: Vec::new(),
            batch_units: 0,
            batch_ns: 100,
            batches: 1,
            warmup_batches: 0,
            verify_units: 0,
            seed: 0,
            parameters: BTreeMap::new(),
        }
    }
}
