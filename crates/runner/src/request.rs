//! What the user asked for, before it meets the machine.

use std::collections::BTreeMap;
use std::time::Duration;
use switchcost_model::{Experiment, Placement, Timing};

/// A request, parsed and not yet resolved.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Globs over `family/name`; none: the headline ladder.
    pub patterns: Vec<String>,
    /// Experiment; None: the first of each mechanism.
    pub experiment: Option<Experiment>,
    /// Ring sizes; none: 2.
    pub contexts: Vec<u64>,
    /// Placements; none: the first of each mechanism.
    pub placements: Vec<Placement>,
    /// Timing.
    pub timing: Timing,
    /// Parameter → values, each combined with each.
    pub parameters: BTreeMap<String, Vec<String>>,
    /// Ids or source folders of probes; none: the best available one of each mechanism.
    pub probes: Vec<String>,
    /// Exactly so many rounds; None: as many as precision needs.
    pub rounds: Option<u64>,
    /// Target half-width of intervals, as a fraction.
    pub precision: f64,
    /// Seed of the order.
    pub seed: u64,
    /// Bound of the whole run, counted from `started`.
    pub budget: Duration,
    /// Measured batches of an invocation.
    pub batches: u64,
    /// Target length of a batch.
    pub batch: Duration,
}

impl Default for Request {
    fn default() -> Self {
        Self {
            patterns: Vec::new(),
            experiment: None,
            contexts: Vec::new(),
            placements: Vec::new(),
            timing: Timing::Batch,
            parameters: BTreeMap::new(),
            probes: Vec::new(),
            rounds: None,
            precision: 0.02,
            seed: 0,
            budget: Duration::from_secs(60),
            batches: 30,
            batch: Duration::from_millis(1),
        }
    }
}

/// A request that cannot be met, as one sentence with its cure.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// A pattern matches no mechanism.
    #[error("no mechanism matches `{pattern}`{}; `switchcost list` shows all", nearest.as_ref().map_or(String::new(), |n| format!(" (did you mean `{n}`?)")))]
    UnknownMechanism {
        /// As typed.
        pattern: String,
        /// Similar id.
        nearest: Option<String>,
    },
    /// A probe describes it; nothing says what it is.
    #[error(
        "the probe {probe} describes {mechanism}, which has no page in mechanisms/; write one (mechanisms/README.md)"
    )]
    NoPage {
        /// As typed.
        mechanism: String,
        /// Who describes it.
        probe: String,
    },
    /// Not a glob.
    #[error("`{pattern}` is not a pattern: {reason}")]
    BadPattern {
        /// As typed.
        pattern: String,
        /// Why.
        reason: String,
    },
    /// No such probe.
    #[error("--probe {name}: there is no such probe{}; `switchcost list` shows all", nearest.as_ref().map_or(String::new(), |n| format!(" (did you mean `{n}`?)")))]
    UnknownProbe {
        /// As typed.
        name: String,
        /// Similar id.
        nearest: Option<String>,
    },
    /// No chosen mechanism has this parameter.
    #[error("--param {name}: none of the chosen mechanisms has this parameter{}", known.as_ref().map_or(String::new(), |k| format!("; they have {k}")))]
    UnknownParameter {
        /// As typed.
        name: String,
        /// Those that exist.
        known: Option<String>,
    },
    /// No chosen mechanism takes it in its experiment.
    #[error("--param {name}: changes nothing in experiment {asked}; it belongs to experiment {changed}: {cure}")]
    IgnoredParameter {
        /// As typed.
        name: String,
        /// What would be measured.
        asked: String,
        /// What it changes.
        changed: String,
        /// What to do.
        cure: String,
    },
    /// Value out of range.
    #[error("--param {name}: {reason}")]
    BadParameter {
        /// As typed.
        name: String,
        /// What it may be.
        reason: String,
    },
    /// No probe at all.
    #[error("no probe is installed in {0}; run `make build`, or let SWITCHCOST_LIBEXEC point to libexec/switchcost")]
    NoProbes(String),
}
