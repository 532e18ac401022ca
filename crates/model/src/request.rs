//! What the user asked for, before it meets the machine.

use crate::{Counter, Experiment, Placement, Timing};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// A request, parsed and not yet resolved. It is stored with its run: what a later version adds is
/// absent in old runs, and unknown in those of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
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
    /// Events that are counted beside the time; none: nothing is counted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub counters: Vec<Counter>,
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
            counters: Vec::new(),
        }
    }
}

impl Request {
    /// Measured batches of a start: as the experiment takes them, unless they were asked for.
    #[must_use]
    pub fn batches_of(&self, experiment: Experiment) -> u64 {
        experiment.page().batches.filter(|_| self.batches == Self::default().batches).unwrap_or(self.batches)
    }

    /// How long a batch is to last: as the experiment takes it, unless it was asked for.
    #[must_use]
    pub fn batch_of(&self, experiment: Experiment) -> Duration {
        let own = experiment.page().batch_ms.filter(|_| self.batch == Self::default().batch);
        own.map_or(self.batch, Duration::from_millis)
    }
}

#[cfg(test)]
mod tests {
    use super::Request;
    use serde_json::{Value, json};

    /// Runs are kept for years: whatever field an old run lacks has its default, and what a new one
    /// has beside is not in the way.
    #[test]
    fn requests_of_other_versions_are_read() {
        let today = serde_json::to_value(Request::default()).unwrap();
        for name in today.as_object().unwrap().keys() {
            let mut older = today.clone();
            older.as_object_mut().unwrap().remove(name);
            assert_eq!(serde_json::from_value::<Request>(older).unwrap(), Request::default(), "without {name}");
        }
        let mut later: Value = today;
        later["new"] = json!({ "flag": true });
        assert_eq!(serde_json::from_value::<Request>(later).unwrap(), Request::default());
    }
}
