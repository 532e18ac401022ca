//! The verdict on a fleet.

use super::facts::{self, FactDifference, FactSplit, hardware_of};
use super::odd::{Deviation, FEWEST_NODES, LEAST_SPREAD, Value, What, deviations, lasting};
use super::suspect::{Known, Signature, Suspect, suspect};
use super::{NodeFigures, NodeRun};
use std::collections::BTreeMap;
use std::sync::Arc;
use switchcost_model::Passage;
use switchcost_stats::{holm, median};

/// Chance that any node at all of a fleet of equals is accused.
const CHANCE: f64 = 0.01;

/// Rows that scatter more than this between nodes say little, and take no part in the sum of all rows.
const TOO_WIDE: f64 = 0.1;

/// Fewest rows that are summed.
const FEWEST_ROWS: usize = 3;

/// Name of that sum.
const ALL_ROWS: &str = "all rows";

/// Kind of disturbance by which a quota shows.
const THROTTLED: &str = "throttled";

/// Kinds by which somebody else shows.
const NEIGHBOURS: &[&str] = &["foreign_cpu", "foreign_switches", "steal"];

/// A row of a node that is unlike that of the others.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeFinding {
    /// Label of the row.
    pub row: String,
    /// What of it.
    pub what: What,
    /// ÷ that of the others.
    pub ratio: f64,
    /// Cost of the others, ns; `None` for sums and for stops.
    pub usual_ns: Option<f64>,
    /// Others that it was held against.
    pub others: usize,
    /// Chance of any such difference in the fleet, were all nodes equal.
    pub p: f64,
}

/// What is said of a node.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeVerdict {
    /// Place of its group; `None`: its group is too small for a verdict.
    pub group: Option<usize>,
    /// Facts that few others share.
    pub facts: Vec<FactDifference>,
    /// Rows that are unlike those of the others, the surest first.
    pub findings: Vec<NodeFinding>,
    /// What they point to; `None`: nothing is odd.
    pub suspect: Option<Suspect>,
    /// Sum of all its rows ÷ that of the others.
    pub all_rows: Option<f64>,
}

impl NodeVerdict {
    /// It is not like the others.
    #[must_use]
    pub fn odd(&self) -> bool {
        self.suspect.is_some()
    }
}

/// A row over the nodes of a group.
#[derive(Debug, Clone, PartialEq)]
pub struct RowSeen {
    /// Label.
    pub label: String,
    /// What it goes through.
    pub through: Passage,
    /// Median over nodes, ns.
    pub median_ns: f64,
    /// Standard deviation between nodes, as a fraction.
    pub spread: f64,
    /// Nodes that have it.
    pub nodes: usize,
}

/// Nodes of the same hardware.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupSeen {
    /// Key of the hardware.
    pub hardware: String,
    /// Its nodes.
    pub nodes: Vec<usize>,
    /// There are enough of them.
    pub judged: bool,
    /// Facts that have several values among them.
    pub splits: Vec<FactSplit>,
    /// Rows.
    pub rows: Vec<RowSeen>,
}

/// One test: this row, this property.
struct Test {
    label: Arc<str>,
    through: Option<Passage>,
    what: What,
    deviation: Deviation,
}

/// Judges nodes against the others of their hardware. The result has one verdict a node, in their order.
#[must_use]
pub fn judge_fleet(runs: &[&NodeRun]) -> (Vec<GroupSeen>, Vec<NodeVerdict>) {
    let mut by_hardware: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (node, run) in runs.iter().enumerate() {
        by_hardware.entry(hardware_of(&run.facts)).or_default().push(node);
    }
    let mut groups: Vec<(String, Vec<usize>)> = by_hardware.into_iter().collect();
    groups.sort_by_key(|(_, nodes)| std::cmp::Reverse(nodes.len()));
    let nothing = NodeVerdict { group: None, facts: Vec::new(), findings: Vec::new(), suspect: None, all_rows: None };
    let (mut seen, mut verdicts) = (Vec::new(), vec![nothing; runs.len()]);
    let mut tests: Vec<Test> = Vec::new();
    for (place, (hardware, nodes)) in groups.into_iter().enumerate() {
        let judged = nodes.len() >= FEWEST_NODES;
        let splits = facts::splits(runs, &nodes);
        let mut rows = Vec::new();
        if judged {
            for (node, facts) in facts::rare(&splits, nodes.len()) {
                verdicts[node].facts = facts;
            }
            nodes.iter().for_each(|&node| verdicts[node].group = Some(place));
            let of_group = of_group(runs, &nodes, &splits);
            rows = rows_seen(&of_group);
            tests.extend(of_group);
        }
        seen.push(GroupSeen { hardware, nodes, judged, splits, rows });
    }
    accuse(runs, &tests, &mut verdicts);
    (seen, verdicts)
}

/// All tests of a group.
fn of_group(runs: &[&NodeRun], nodes: &[usize], splits: &[FactSplit]) -> Vec<Test> {
    let sets = facts::alike(runs, nodes, splits);
    let twins: Vec<f64> = nodes.iter().filter_map(|&node| runs[node].twin.map(f64::abs)).collect();
    let floor = median(&twins).unwrap_or(0.0).max(LEAST_SPREAD);
    let mut rows: BTreeMap<&Arc<str>, Vec<(usize, &NodeFigures)>> = BTreeMap::new();
    for &node in nodes {
        runs[node].rows.iter().for_each(|row| rows.entry(&row.label).or_default().push((node, row)));
    }
    let mut tests = Vec::new();
    let mut sums: BTreeMap<usize, (f64, f64, usize)> = BTreeMap::new();
    for (label, figures) in rows {
        let through = Some(figures[0].1.through);
        let of = |value: fn(&NodeFigures) -> f64| {
            let values = figures.iter().map(|(node, row)| Value { node: *node, value: value(row), within: row.within });
            deviations(&values.collect::<Vec<_>>(), &sets, floor)
        };
        for deviation in lasting(of(|row| row.level), &of(|row| row.low), &of(|row| row.high)) {
            if deviation.spread < TOO_WIDE {
                let weight = deviation.spread.max(2.0 * LEAST_SPREAD).powi(-2);
                let sum = sums.entry(deviation.node).or_default();
                *sum = (sum.0 + weight * deviation.difference, sum.1 + weight, sum.2 + 1);
            }
            tests.push(Test { label: Arc::clone(label), through, what: What::Cost, deviation });
        }
    }
    let sums: Vec<Value> = sums
        .into_iter()
        .filter(|(_, (_, _, rows))| *rows >= FEWEST_ROWS)
        .map(|(node, (sum, weight, _))| Value { node, value: sum / weight, within: 0.0 })
        .collect();
    let label: Arc<str> = ALL_ROWS.into();
    let sum = |what| {
        let label = Arc::clone(&label);
        move |deviation| Test { label: Arc::clone(&label), through: None, what, deviation }
    };
    tests.extend(deviations(&sums, &sets, LEAST_SPREAD).into_iter().map(sum(What::Cost)));
    // One stop in one row is chance; a quota or a neighbour stops most rows.
    let stopped = nodes.iter().filter_map(|&node| {
        let stops: Vec<f64> = runs[node].rows.iter().map(|row| row.stalled).collect();
        let value = median(&stops).filter(|_| stops.len() >= FEWEST_ROWS)?;
        Some(Value { node, value, within: 0.0 })
    });
    tests.extend(deviations(&stopped.collect::<Vec<_>>(), &sets, LEAST_SPREAD).into_iter().map(sum(What::Stopped)));
    tests
}

fn rows_seen(tests: &[Test]) -> Vec<RowSeen> {
    let mut rows: BTreeMap<(Passage, &str), Vec<&Deviation>> = BTreeMap::new();
    for test in tests.iter().filter(|test| test.what == What::Cost) {
        if let Some(through) = test.through {
            rows.entry((through, &test.label)).or_default().push(&test.deviation);
        }
    }
    let row = |((through, label), all): ((Passage, &str), Vec<&Deviation>)| {
        let of = |value: fn(&Deviation) -> f64| median(&all.iter().map(|one| value(one)).collect::<Vec<_>>());
        Some(RowSeen {
            label: label.to_owned(),
            through,
            median_ns: of(|one| one.usual)?.exp(),
            spread: of(|one| one.spread)?,
            nodes: all.len(),
        })
    };
    rows.into_iter().filter_map(row).collect()
}

/// Puts what is beyond chance and beyond what matters into the verdicts.
fn accuse(runs: &[&NodeRun], tests: &[Test], verdicts: &mut [NodeVerdict]) {
    let ps = holm(&tests.iter().map(|test| test.deviation.p).collect::<Vec<_>>());
    let mut of_node: BTreeMap<usize, Vec<(&Test, f64)>> = BTreeMap::new();
    for (test, p) in tests.iter().zip(ps) {
        of_node.entry(test.deviation.node).or_default().push((test, p));
    }
    for (node, mut tests) in of_node {
        let verdict = &mut verdicts[node];
        let sum = tests.iter().find(|(test, _)| test.through.is_none() && test.what == What::Cost);
        verdict.all_rows = sum.map(|(test, _)| test.deviation.difference.exp());
        let signature = signature(&tests);
        tests.retain(|(test, p)| *p < CHANCE && test.deviation.difference.abs() > test.what.least());
        tests.sort_by(|a, b| a.1.total_cmp(&b.1));
        // The sum says nothing that its rows do not say already.
        let single = tests.iter().any(|(test, _)| test.through.is_some() && test.what == What::Cost);
        tests.retain(|(test, _)| test.through.is_some() || test.what == What::Stopped || !single);
        verdict.findings = tests.iter().map(|(test, p)| finding(test, *p)).collect();
        let has = |what| verdict.findings.iter().any(|finding| finding.what == what && finding.ratio > 1.0);
        if !verdict.findings.is_empty() || !verdict.facts.is_empty() {
            verdict.suspect = Some(suspect(&Known {
                facts: &verdict.facts,
                signature: &signature,
                stopped: has(What::Stopped),
                costs: verdict.findings.iter().any(|finding| finding.what == What::Cost),
                throttled: share(runs[node], &[THROTTLED]),
                neighbours: share(runs[node], NEIGHBOURS),
            }));
        }
    }
    for verdict in verdicts.iter_mut().filter(|verdict| verdict.suspect.is_none() && !verdict.facts.is_empty()) {
        verdict.suspect = Some(suspect(&Known { facts: &verdict.facts, ..Known::default() }));
    }
}

/// Share of a run's starts that these disturbed, at most.
fn share(run: &NodeRun, kinds: &[&str]) -> f64 {
    let starts = kinds.iter().filter_map(|kind| run.disturbances.get(*kind)).max();
    starts.copied().unwrap_or(0) as f64 / run.starts.max(1) as f64
}

fn finding(test: &Test, p: f64) -> NodeFinding {
    let cost = test.what == What::Cost && test.through.is_some();
    NodeFinding {
        row: test.label.to_string(),
        what: test.what,
        ratio: test.deviation.difference.exp(),
        usual_ns: cost.then(|| test.deviation.usual.exp()),
        others: test.deviation.others,
        p,
    }
}

fn signature(tests: &[(&Test, f64)]) -> Vec<Signature> {
    let mut all: BTreeMap<Passage, Vec<&Deviation>> = BTreeMap::new();
    for (test, _) in tests.iter().filter(|(test, _)| test.what == What::Cost) {
        if let Some(through) = test.through {
            all.entry(through).or_default().push(&test.deviation);
        }
    }
    let mean =
        |all: &[&Deviation], of: fn(&Deviation) -> f64| all.iter().map(|one| of(one)).sum::<f64>() / all.len() as f64;
    all.into_iter()
        .map(|(through, all)| Signature {
            through,
            difference: mean(&all, |one| one.difference),
            spreads: mean(&all, |one| one.difference / one.spread) * (all.len() as f64).sqrt(),
        })
        .collect()
}

/// Which nodes changed since earlier rounds, beyond what all nodes did: facts and rows of each, in the order of `now`. Nodes without an earlier run have
/// nothing.
#[must_use]
pub fn changed(before: &[Vec<&NodeRun>], now: &[&NodeRun]) -> Vec<NodeVerdict> {
    let differences: Vec<Option<NodeRun>> =
        now.iter().zip(before).map(|(now, before)| (!before.is_empty()).then(|| since(before, now))).collect();
    let known: Vec<&NodeRun> = differences.iter().flatten().collect();
    let (_, verdicts) = judge_fleet(&known);
    let mut verdicts = verdicts.into_iter();
    let nothing = NodeVerdict { group: None, facts: Vec::new(), findings: Vec::new(), suspect: None, all_rows: None };
    let mut all = Vec::new();
    for (place, difference) in differences.iter().enumerate() {
        let mut verdict = difference.as_ref().and_then(|_| verdicts.next()).unwrap_or_else(|| nothing.clone());
        verdict.facts = before[place].last().map(|last| facts::between(last, now[place])).unwrap_or_default();
        verdict.findings.iter_mut().for_each(|finding| finding.usual_ns = None);
        all.push(verdict);
    }
    all
}

/// A run less the median of earlier ones.
fn since(before: &[&NodeRun], now: &NodeRun) -> NodeRun {
    let less = |row: &NodeFigures| {
        let earlier: Vec<&NodeFigures> =
            before.iter().filter_map(|run| run.rows.iter().find(|other| other.label == row.label)).collect();
        let of = |value: fn(&NodeFigures) -> f64| median(&earlier.iter().map(|row| value(row)).collect::<Vec<_>>());
        Some(NodeFigures {
            level: row.level - of(|row| row.level)?,
            low: row.low - of(|row| row.low)?,
            high: row.high - of(|row| row.high)?,
            stalled: row.stalled - of(|row| row.stalled)?,
            within: row.within.hypot(of(|row| row.within)?),
            ..row.clone()
        })
    };
    NodeRun { rows: now.rows.iter().filter_map(less).collect(), ..now.clone() }
}
