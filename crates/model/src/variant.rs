//! What is measured: mechanism ids, variants and plans.

use crate::id::{IdError, as_text, words};
use crate::{Experiment, Placement};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// Parameter name → value, as text; ordered so that equal sets have equal labels.
pub type Parameters = BTreeMap<String, String>;

/// `family/name`, both of lower-case letters, digits and hyphens.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MechanismId(String);

impl MechanismId {
    /// The part before the slash.
    #[must_use]
    pub fn family(&self) -> &str {
        self.0.split_once('/').map_or("", |(family, _)| family)
    }

    /// The whole id.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for MechanismId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        let part_is_fine = |part: &str| {
            !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        };
        match text.split_once('/') {
            Some((family, name)) if part_is_fine(family) && part_is_fine(name) => Ok(Self(text.to_owned())),
            _ => Err(IdError(format!("`{text}` is not of the form family/name (lower-case letters, digits, hyphens)"))),
        }
    }
}

impl fmt::Display for MechanismId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

as_text!(MechanismId);

/// How time is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Timing {
    /// A monotonic clock around k units.
    Batch,
    /// The cycle counter at every unit, into a histogram of constant size.
    Each,
}
words!(Timing, "timing", Batch => "batch", Each => "each");

/// Mechanism × probe × experiment × parameters: one row of the ladder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Variant {
    /// What hands the CPU over.
    pub mechanism: MechanismId,
    /// Id of the probe that carries it out.
    pub probe: String,
    /// What is measured of it.
    pub experiment: Experiment,
    /// Number of contexts in the ring.
    pub contexts: u64,
    /// Where they run.
    pub placement: Placement,
    /// How time is read.
    pub timing: Timing,
    /// Parameters of the mechanism, defaults filled in.
    pub parameters: Parameters,
    /// Distinguishes two otherwise equal variants (the A/A pair); empty in the ordinary case.
    pub label: String,
}

/// Label of the second half of a run's A/A pair: one variant measured twice, so that the run itself
/// shows how far equal things come apart.
pub const TWIN: &str = "A/A";

impl Variant {
    /// This is the second half of the A/A pair: no row of its own.
    #[must_use]
    pub fn is_twin(&self) -> bool {
        self.label == TWIN
    }

    /// Each unit has a figure of its own, and the probe reports how these are spread.
    #[must_use]
    pub fn each_unit(&self) -> bool {
        self.timing == Timing::Each || self.experiment.distribution
    }

    /// The parameters that a probe is told: without those that the host carries out itself.
    pub fn sent(&self) -> impl Iterator<Item = (&String, &String)> {
        self.parameters.iter().filter(|(name, _)| !self.experiment.carried_out_by_host(name))
    }

    /// Canonical text of the whole variant; equal variants have equal keys, also across machines
    /// and versions.
    #[must_use]
    pub fn key(&self) -> String {
        let mut key = format!(
            "{}@{} {} contexts={} placement={} timing={}",
            self.mechanism, self.probe, self.experiment, self.contexts, self.placement, self.timing
        );
        for (name, value) in &self.parameters {
            key.push_str(&format!(" {name}={value}"));
        }
        if !self.label.is_empty() {
            key.push_str(&format!(" label={}", self.label));
        }
        key
    }
}

/// One invocation's orders, with everything resolved against the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// What to measure.
    pub variant: Variant,
    /// CPUs of the contexts: context i on `cpus[i mod n]`. Empty: free.
    pub cpus: Vec<u32>,
    /// Units in a batch; 0 asks the probe to calibrate.
    pub batch_units: u64,
    /// Length of a batch that calibration aims at, ns.
    pub batch_ns: u64,
    /// Batches to measure.
    pub batches: u64,
    /// Batches before them, kept and marked.
    pub warmup_batches: u64,
    /// Units of the verification pass; 0 for none.
    pub verify_units: u64,
    /// Seed for whatever the mechanism randomises.
    pub seed: u64,
    /// After this many ms the process group is killed.
    pub deadline_ms: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_family_slash_name() {
        let id: MechanismId = "thread/std-condvar".parse().unwrap();
        assert_eq!(id.family(), "thread");
        for wrong in ["", "thread", "/", "thread/", "/pipe", "Thread/pipe", "a/b/c", "a b/c", "../x"] {
            assert!(wrong.parse::<MechanismId>().is_err(), "{wrong} passed");
        }
    }
}
