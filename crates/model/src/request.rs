//! What the user asked for, before it meets the machine.

use crate::{Experiment, Placement, Timing};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// A request, parsed and not yet resolved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Names, globs or families of mechanisms, with words of their rows; none: the headline ladder.
    pub patterns: Vec<String>,
    /// Word of the axis along which it is a sweep; None: it is none.
    pub axis: Option<String>,
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
            axis: None,
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
