//! What the data files say of mechanisms, families and probes.

use crate::{Experiment, MechanismId, Parameters, Placement, Variant};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A family of mechanisms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Family {
    /// Part of the id before the slash.
    pub id: String,
    /// One line.
    pub title: String,
}

/// What a parameter may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParameterKind {
    /// One of these words.
    Words(Vec<String>),
    /// An integer in this range.
    Integer {
        /// Lowest.
        min: u64,
        /// Highest.
        max: u64,
    },
}

/// A parameter of a mechanism.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// What it may be.
    pub kind: ParameterKind,
    /// Used when nothing is said.
    pub default: String,
    /// One sentence.
    pub help: String,
}

/// What must hold for a claim to be believed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EvidenceRule {
    /// Every context counts its turns.
    pub turns: bool,
    /// Kernel switches per unit, lowest and highest; None: any.
    pub kernel_switches: Option<(f64, f64)>,
    /// Distinct address spaces, at least.
    pub address_spaces: u64,
    /// Share of hops of the verification pass that stay on one CPU, lowest and highest.
    pub same_cpu_hops: Option<(f64, f64)>,
    /// Further counts (`Evidence::counts`) with lowest and highest value per unit.
    pub counts: BTreeMap<String, (f64, f64)>,
    /// Counts that must reach a total, however many units there were.
    pub at_least: BTreeMap<String, i64>,
    /// Said with the row when the kernel's factor is not 1.
    pub note: String,
}

/// When a rule replaces the general one.
#[derive(Debug, Clone, PartialEq)]
pub struct EvidenceCase {
    /// Only for this placement.
    pub placement: Option<Placement>,
    /// Only for this experiment.
    pub experiment: Option<Experiment>,
    /// Only for a ring of this many.
    pub contexts: Option<u64>,
    /// Only when these parameters have these values.
    pub parameters: Parameters,
    /// The rule, complete (the file's override merged into the general rule).
    pub rule: EvidenceRule,
}

/// A variant of the default ladder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Headline {
    /// Where.
    pub placement: Placement,
    /// With which parameters.
    pub parameters: Parameters,
}

/// A mechanism as described in `mechanisms/`.
#[derive(Debug, Clone, PartialEq)]
pub struct Concept {
    /// Its id.
    pub id: MechanismId,
    /// One line.
    pub title: String,
    /// Source folders of probes that implement it.
    pub implemented_by: Vec<String>,
    /// What one unit does.
    pub iteration: String,
    /// What the cost includes.
    pub includes: String,
    /// Controls shown beside it.
    pub floor: Vec<MechanismId>,
    /// Literature and sources.
    pub sources: Vec<String>,
    /// Placements that make sense, default first.
    pub placements: Vec<Placement>,
    /// Experiments, default first.
    pub experiments: Vec<Experiment>,
    /// Word for the unit of experiment switch.
    pub unit: String,
    /// No switch takes place.
    pub control: bool,
    /// Shown with every verified row.
    pub notes: Vec<String>,
    /// Parameters.
    pub parameters: BTreeMap<String, Parameter>,
    /// General rule.
    pub evidence: EvidenceRule,
    /// Exceptions; the last that applies wins.
    pub evidence_when: Vec<EvidenceCase>,
    /// Variants of the default ladder.
    pub headline: Vec<Headline>,
}

impl Concept {
    /// The rule that applies to this variant: the last matching exception, else the general one.
    #[must_use]
    pub fn rule(&self, variant: &Variant) -> &EvidenceRule {
        let applies = |case: &&EvidenceCase| {
            case.placement.is_none_or(|placement| placement == variant.placement)
                && case.experiment.is_none_or(|experiment| experiment == variant.experiment)
                && case.contexts.is_none_or(|contexts| contexts == variant.contexts)
                && case.parameters.iter().all(|(name, value)| variant.parameters.get(name) == Some(value))
        };
        self.evidence_when.iter().rev().find(applies).map_or(&self.evidence, |case| &case.rule)
    }

    /// Word for one unit of this experiment.
    #[must_use]
    pub fn unit_of(&self, experiment: Experiment) -> &str {
        match experiment {
            Experiment::Switch => &self.unit,
            Experiment::Create | Experiment::Footprint => "context",
            Experiment::Message => "round trip",
        }
    }
}

/// Packages that bring a runtime.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Install {
    /// Debian and Ubuntu.
    pub debian: String,
    /// Fedora.
    pub fedora: String,
    /// macOS (Homebrew).
    pub macos: String,
}

/// A probe as found on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbeInfo {
    /// Id, e.g. `gcc-12`.
    pub id: String,
    /// One line.
    pub title: String,
    /// Folder under `probes/` it is built from.
    pub source: String,
    /// The ladder shows the available probe with the highest priority.
    pub priority: i64,
    /// Folder of its `probe.toml`.
    pub folder: PathBuf,
    /// Program and first arguments; `./` is relative to the folder.
    pub command: Vec<String>,
    /// Names of environment variables passed through.
    pub environment: Vec<String>,
    /// How long it may take until its first message, ms.
    pub start_timeout_ms: u64,
    /// Packages to install when it is missing.
    pub install: Install,
}

impl Parameter {
    /// Checks a value.
    ///
    /// # Errors
    /// Says what the parameter may be.
    pub fn accepts(&self, value: &str) -> Result<(), String> {
        match &self.kind {
            ParameterKind::Words(words) if words.iter().any(|word| word == value) => Ok(()),
            ParameterKind::Words(words) => Err(format!("`{value}` is not one of {}", words.join(", "))),
            ParameterKind::Integer { min, max } => match value.parse::<u64>() {
                Ok(number) if (*min..=*max).contains(&number) => Ok(()),
                _ => Err(format!("`{value}` is not a whole number from {min} to {max}")),
            },
        }
    }
}
