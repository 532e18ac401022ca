//! What is counted beside the time: events of the CPU and of the kernel, in starts of their own.

use crate::id::{IdError, words};
use crate::{Obstacle, Value};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// Start-ups of a probe differ by so much of what the shorter start counted, at most.
const OF_START_UP: f64 = 0.02;

/// A count is given if it is known to this share of itself.
const KNOWN: f64 = 0.2;

/// An event that can be counted, called as perf calls it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is the kernel's event of that name")]
pub enum Counter {
    Cycles,
    Instructions,
    BranchMisses,
    CacheMisses,
    TaskClock,
    PageFaults,
    ContextSwitches,
}
words!(Counter, "event", Cycles => "cycles", Instructions => "instructions", BranchMisses => "branch-misses",
    CacheMisses => "cache-misses", TaskClock => "task-clock", PageFaults => "page-faults",
    ContextSwitches => "context-switches");

impl Counter {
    /// What it is counted as: in user mode (`:u`) and in the kernel (`:k`) apart; events of the
    /// kernel are counted as one.
    #[must_use]
    pub fn names(self) -> Vec<String> {
        match self {
            Self::TaskClock | Self::PageFaults | Self::ContextSwitches => vec![self.to_string()],
            _ => [":u", ":k"].map(|side| format!("{self}{side}")).into(),
        }
    }
}

/// Whole starts of a row that were counted: of each event two, which differ in the units of their
/// batches alone. None of them is in a figure.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Counters {
    /// Those that came to their end.
    pub starts: Vec<CountedStart>,
    /// Name of the event → why it was not counted.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub refused: BTreeMap<String, Obstacle>,
}

/// A start from exec to the end of its last task.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct CountedStart {
    /// Units of all its batches.
    pub units: u64,
    /// Name of the event → how many there were; `task-clock` in ns.
    pub counts: BTreeMap<String, u64>,
}

/// An event per unit.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PerUnit {
    /// So many.
    Of(f64),
    /// Fewer than so many: start-up of the probe hides them.
    Below(f64),
    /// Why it was not counted.
    Refused(Obstacle),
}

impl Counters {
    /// Name of the event → how many a unit has.
    #[must_use]
    pub fn per_unit(&self) -> BTreeMap<String, PerUnit> {
        let counted = self.starts.iter().flat_map(|start| start.counts.keys());
        counted.chain(self.refused.keys()).map(|name| (name.clone(), self.of(name))).collect()
    }

    fn of(&self, name: &str) -> PerUnit {
        if let Some(why) = self.refused.get(name) {
            return PerUnit::Refused(why.clone());
        }
        let counts = self.starts.iter().filter_map(|start| Some((start.units, *start.counts.get(name)?)));
        let mut counts: Vec<(u64, u64)> = counts.collect();
        counts.sort_unstable();
        // An event that was asked for twice was counted in more starts.
        let ([(fewer, shorter), ..], [.., (more, longer)]) = (&counts[..], &counts[..]) else {
            return PerUnit::Refused(Obstacle::CountedFell);
        };
        if fewer == more {
            return PerUnit::Refused(Obstacle::CountedFell);
        }
        let (units, longer, shorter) = ((more - fewer) as f64, *longer as f64, *shorter as f64);
        let (each, unsure) = ((longer - shorter) / units, OF_START_UP * shorter / units);
        if each > 0.0 && each * KNOWN >= unsure { PerUnit::Of(each) } else { PerUnit::Below(unsure / KNOWN) }
    }
}

impl From<&PerUnit> for Value {
    fn from(of: &PerUnit) -> Self {
        match of {
            PerUnit::Of(count) if *count < 1.0 => Self::Rate(*count),
            PerUnit::Of(count) => Self::Bare(*count),
            PerUnit::Below(count) => Self::Below(*count),
            PerUnit::Refused(_) => Self::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_the_difference_per_unit_and_below_what_start_ups_scatter_by_unknown() {
        let start = |units, counts: &[(&str, u64)]| {
            let counts = counts.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
            CountedStart { units, counts }
        };
        let refused = [("cycles:u".to_owned(), Obstacle::NoCounter)].into();
        let counters = Counters {
            starts: vec![
                start(1100, &[("instructions:u", 126_000), ("cycles:k", 10_999), ("page-faults", 90)]),
                start(100, &[("instructions:u", 100_000), ("cycles:k", 10_000), ("page-faults", 100)]),
                start(1100, &[("cache-misses:u", 7), ("instructions:u", 126_000)]),
            ],
            refused,
        };
        let known = counters.per_unit();
        assert_eq!(known["instructions:u"], PerUnit::Of(26.0));
        assert_eq!(known["cycles:k"], PerUnit::Below(1.0));
        assert_eq!(known["page-faults"], PerUnit::Below(0.01));
        assert_eq!(known["cache-misses:u"], PerUnit::Refused(Obstacle::CountedFell));
        assert_eq!(known["cycles:u"], PerUnit::Refused(Obstacle::NoCounter));
        let said = ["instructions:u", "cycles:k", "cycles:u"].map(|name| Value::from(&known[name]).to_string());
        assert_eq!(said, ["26.0", "< 1.00", "–"]);
    }
}
