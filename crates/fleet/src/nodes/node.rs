//! A run of a node, reduced to what is held against others.

use crate::passage::Passage;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use switchcost_stats::{FEWEST, OF_A_MEDIAN, SIGMAS, mad, median, quantile, sorted};

/// One run of a node.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NodeRun {
    /// Id of the run.
    pub run: String,
    /// Its start, ns since 1970 UTC.
    pub started_unix_ns: i64,
    /// Version of the method.
    pub method_version: u32,
    /// Version of switchcost.
    pub tool_version: String,
    /// What the machine calls itself, if the run tells.
    pub host: Option<String>,
    /// Stable facts of the machine; equal ones are kept once.
    pub facts: Arc<BTreeMap<String, String>>,
    /// Rows by their labels.
    pub rows: Vec<NodeFigures>,
    /// What the clock's ruler took beside all starts, ns; `None` without rulers.
    pub clock: Option<Centre>,
    /// ln of B ÷ A of the row that was measured twice.
    pub twin: Option<f64>,
    /// Kind of disturbance → starts.
    pub disturbances: BTreeMap<String, usize>,
    /// All starts.
    pub starts: usize,
    /// Rows without figures that can be believed, with the reason.
    pub unusable: Vec<(String, String)>,
}

/// Kinds by which somebody else shows.
const NEIGHBOURS: &[&str] = &["foreign_cpu", "foreign_switches", "steal"];

impl NodeRun {
    /// Share of its starts that these disturbed, at most.
    #[must_use]
    pub fn disturbed_by(&self, kinds: &[&str]) -> f64 {
        let starts = kinds.iter().filter_map(|kind| self.disturbances.get(*kind)).max();
        starts.copied().unwrap_or(0) as f64 / self.starts.max(1) as f64
    }

    /// Share of its starts beside which others ran.
    #[must_use]
    pub fn beside_others(&self) -> f64 {
        self.disturbed_by(NEIGHBOURS)
    }
}

/// Share of a row's starts that something stops if it belongs to the node, as a quota or a
/// neighbour does. What stopped fewer was a moment.
const STOPPED: f64 = 0.3;

/// Round of a start, its cost, and what the clock's ruler took beside it, ns; without rulers only
/// the cost.
pub type Timed = (u64, f64, Option<f64>);

/// What starts cost in times of the clock's ruler beside them. `None` where one has none.
fn steady(starts: &[Timed]) -> Option<Vec<f64>> {
    starts.iter().map(|(_, ns, clock)| Some(ns / (*clock)?)).collect()
}

/// The starts of a row that its figures are made of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeStarts {
    /// Name of the row, its probe included.
    pub row: String,
    /// What it goes through.
    pub through: Passage,
    /// Name of the row that it measures a second time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub twin_of: Option<String>,
    /// Medians of its undisturbed starts.
    pub medians: Vec<Timed>,
    /// Means of all its starts, disturbed or not.
    pub means: Vec<Timed>,
}

/// Where the starts of a row lie, as logarithms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Centre {
    /// Their median.
    pub level: f64,
    /// Quartile of the faster ones.
    pub low: f64,
    /// The same of the slower ones.
    pub high: f64,
    /// The fastest.
    pub fastest: f64,
    /// The slowest.
    pub slowest: f64,
    /// Standard error of the median.
    pub within: f64,
}

impl Centre {
    /// Of positive values. `None`: too few of them, or one that is not positive.
    #[must_use]
    pub fn new(values: &[f64]) -> Option<Self> {
        if values.len() < FEWEST || !values.iter().all(|value| value.is_finite() && *value > 0.0) {
            return None;
        }
        let logarithms = sorted(&values.iter().map(|value| value.ln()).collect::<Vec<_>>());
        Some(Self {
            level: quantile(&logarithms, 0.5)?,
            low: quantile(&logarithms, 0.25)?,
            high: quantile(&logarithms, 0.75)?,
            fastest: *logarithms.first()?,
            slowest: *logarithms.last()?,
            within: OF_A_MEDIAN * SIGMAS * mad(&logarithms)? / (logarithms.len() as f64).sqrt(),
        })
    }

    /// Less that of another run; `None` with no others.
    pub(super) fn less(self, others: &[Self]) -> Option<Self> {
        let of = |value: fn(&Self) -> f64| median(&others.iter().map(value).collect::<Vec<_>>());
        Some(Self {
            level: self.level - of(|other| other.level)?,
            low: self.low - of(|other| other.low)?,
            high: self.high - of(|other| other.high)?,
            fastest: self.fastest - of(|other| other.fastest)?,
            slowest: self.slowest - of(|other| other.slowest)?,
            within: self.within.hypot(of(|other| other.within)?),
        })
    }
}

/// Figures of a row.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeFigures {
    /// Name of the row, its probe included.
    pub label: Arc<str>,
    /// What it goes through.
    pub through: Passage,
    /// Its cost, ns.
    pub cost: Centre,
    /// Its cost in times of the clock's ruler beside it: the rate of the clock is not in it.
    /// `None`: the probe has no such ruler.
    pub steady: Option<Centre>,
    /// ln of the time that all batches of a start took ÷ that of as many typical ones at their
    /// clock, of the start that [`STOPPED`] lie above: what it was stopped for.
    pub stalled: f64,
}

impl NodeFigures {
    /// `None`: too few starts.
    #[must_use]
    pub fn new(starts: &NodeStarts) -> Option<Self> {
        let ns = |all: &[Timed]| all.iter().map(|(_, ns, _)| *ns).collect::<Vec<_>>();
        let cost = Centre::new(&ns(&starts.medians))?;
        let at_clock = steady(&starts.medians).and_then(|values| Centre::new(&values));
        let stopped = |values: &[f64]| quantile(&sorted(values), 1.0 - STOPPED).map(f64::ln);
        let stalled = match at_clock.zip(steady(&starts.means)) {
            Some((typical, means)) => stopped(&means)? - typical.level,
            None => stopped(&ns(&starts.means))? - cost.level,
        };
        Some(Self {
            label: starts.row.as_str().into(),
            through: starts.through,
            cost,
            steady: at_clock,
            stalled: stalled.max(0.0),
        })
    }

    /// What it is held against others by, where they have it too.
    pub(super) fn typical(&self) -> Centre {
        self.steady.filter(|_| at_the_clock(self.through)).unwrap_or(self.cost)
    }
}

/// The clock of the core decides what such a row costs. What lies between CPUs has a rate of its
/// own.
pub(super) fn at_the_clock(through: Passage) -> bool {
    !matches!(through, Passage::Wake | Passage::Cache)
}
