//! The verdict on a fleet.

use super::facts::{self, FactDifference, FactSplit, hardware_of};
use super::kinds::{KindsSeen, Parted, no_rule};
use super::node::{Centre, NodeFigures, NodeRun, at_the_clock};
use super::odd::{Deviation, FEWEST_NODES, LEAST_SPREAD, Value, What, deviations, lasting};
use super::suspect::{Known, Signature, Suspect, suspect};
use crate::passage::Passage;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use switchcost_stats::{holm, median, quantile, sorted};

/// Chance that any node at all of a fleet of equals is accused by one of its rows, which may have
/// long tails.
const BY_A_ROW: f64 = 0.01;

/// The same by what is taken over all rows: the clock, stops and the sum, which scatter nearly as
/// the model has it.
const BY_ALL_ROWS: f64 = 0.04;

/// Rows that scatter more than this between nodes say little, and take no part in the sum of all
/// rows.
const TOO_WIDE: f64 = 0.1;

/// As far as the fastest and the slowest start of this share of the nodes lie from the others of
/// their node, no node is odd by one row: where starts fall into kinds, it may have got more of
/// one.
const REACH: f64 = 0.75;

/// Fewest rows that are summed.
const FEWEST_ROWS: usize = 3;

/// Name of that sum.
const ALL_ROWS: &str = "all rows";

/// Name of the clock's ruler.
const CLOCK: &str = "clock";

/// Kind of disturbance by which a quota shows.
const THROTTLED: &str = "throttled";

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
#[derive(Debug, Clone, PartialEq, Default)]
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
    /// Rows that most of its group have and that it cannot be held against the others by.
    pub lacking: Vec<String>,
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
    /// Standard deviation between nodes at the same clock, as a fraction.
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
    /// Standard deviation of the clock between nodes, as a fraction; `None` without rulers.
    pub clock_spread: Option<f64>,
    /// Rows.
    pub rows: Vec<RowSeen>,
    /// Rows by which its nodes fall into kinds of which none is the rule. Nobody is accused of
    /// being of one.
    pub kinds: Vec<KindsSeen>,
}

/// What a test is of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    /// A row that goes through this.
    Row(Passage),
    /// The sum of all rows.
    AllRows,
    /// The clock.
    Clock,
}

/// One test: this row, this property.
struct Test {
    label: Arc<str>,
    of: Of,
    what: What,
    deviation: Deviation,
}

impl Test {
    fn of_a_row(&self) -> bool {
        matches!(self.of, Of::Row(_))
    }

    /// With this corrected p it is beyond chance, and beyond what matters.
    fn odd(&self, p: f64) -> bool {
        let chance = if self.of_a_row() { BY_A_ROW } else { BY_ALL_ROWS };
        p < chance && self.deviation.difference.abs() > self.what.least()
    }

    fn through(&self) -> Option<Passage> {
        match self.of {
            Of::Row(through) if self.what == What::Cost => Some(through),
            _ => None,
        }
    }
}

/// Judges nodes against the others of their hardware. The result has one verdict a node, in their
/// order.
#[must_use]
pub fn judge_fleet(runs: &[&NodeRun]) -> (Vec<GroupSeen>, Vec<NodeVerdict>) {
    judged(runs, true)
}

/// With `parted`, nodes that fall into kinds are held against those of their own.
fn judged(runs: &[&NodeRun], parted: bool) -> (Vec<GroupSeen>, Vec<NodeVerdict>) {
    let mut by_hardware: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (node, run) in runs.iter().enumerate() {
        by_hardware.entry(hardware_of(&run.facts)).or_default().push(node);
    }
    let mut groups: Vec<(String, Vec<usize>)> = by_hardware.into_iter().collect();
    groups.sort_by_key(|(_, nodes)| std::cmp::Reverse(nodes.len()));
    let (mut seen, mut verdicts) = (Vec::new(), vec![NodeVerdict::default(); runs.len()]);
    let mut tests: Vec<Test> = Vec::new();
    for (place, (hardware, nodes)) in groups.into_iter().enumerate() {
        let judged = nodes.len() >= FEWEST_NODES;
        let splits = facts::splits(runs, &nodes);
        let (mut rows, mut clock_spread, mut kinds) = (Vec::new(), None, Vec::new());
        if judged {
            for (node, facts) in facts::rare(&splits, nodes.len()) {
                verdicts[node].facts = facts;
            }
            nodes.iter().for_each(|&node| verdicts[node].group = Some(place));
            let of_group = of_group(runs, &nodes, &splits, parted.then_some(&mut kinds));
            rows = rows_seen(&of_group);
            lacking(&of_group, &nodes, &mut verdicts);
            let clocks = of_group.iter().filter(|test| test.of == Of::Clock).map(|test| test.deviation.spread);
            clock_spread = median(&clocks.collect::<Vec<_>>());
            tests.extend(of_group);
        }
        seen.push(GroupSeen { hardware, nodes, judged, splits, clock_spread, rows, kinds });
    }
    accuse(runs, &tests, &mut verdicts, parted.then_some(&mut seen));
    (seen, verdicts)
}

/// Deviations of nodes by where their starts lie.
fn lasting_of(centres: &[(usize, Centre)], parted: &Parted, floor: f64) -> Vec<Deviation> {
    let kept = || centres.iter().filter(|(node, _)| !parted.few.contains(node));
    let of = |value: fn(&Centre) -> f64| {
        let value =
            |(node, centre): &(usize, Centre)| Value { node: *node, value: value(centre), within: centre.within };
        deviations(&kept().map(value).collect::<Vec<_>>(), &parted.sets, floor)
    };
    let reach = |value: fn(&Centre) -> f64| {
        quantile(&sorted(&centres.iter().map(|(_, centre)| value(centre)).collect::<Vec<_>>()), REACH).unwrap_or(0.0)
    };
    let starts = (reach(|centre| centre.level - centre.fastest), reach(|centre| centre.slowest - centre.level));
    let mut all = lasting(of(|centre| centre.level), &of(|centre| centre.low), &of(|centre| centre.high));
    all.iter_mut().for_each(|deviation| deviation.beyond(starts));
    let few = centres.iter().filter(|(node, _)| parted.few.contains(node));
    all.extend(few.map(|(node, centre)| Deviation::none(*node, centre.level)));
    all
}

/// All tests of a group, and the kinds that its nodes fall into.
fn of_group(
    runs: &[&NodeRun],
    nodes: &[usize],
    splits: &[FactSplit],
    mut kinds: Option<&mut Vec<KindsSeen>>,
) -> Vec<Test> {
    let mut part = |label: &str, centres: &[(usize, Centre)], sets: &[Vec<usize>]| match &mut kinds {
        Some(kinds) => {
            let parted = Parted::new(centres, sets);
            let seen = parted.kinds.iter().cloned();
            kinds.extend(seen.map(|kinds| KindsSeen { label: label.to_owned(), kinds }));
            parted
        }
        None => Parted { sets: sets.to_vec(), ..Parted::default() },
    };
    let sets = facts::alike(runs, nodes, splits);
    let twins: Vec<f64> = nodes.iter().filter_map(|&node| runs[node].twin.map(f64::abs)).collect();
    let floor = median(&twins).unwrap_or(0.0).max(LEAST_SPREAD);
    let mut rows: BTreeMap<&Arc<str>, Vec<(usize, &NodeFigures)>> = BTreeMap::new();
    for &node in nodes {
        runs[node].rows.iter().for_each(|row| rows.entry(&row.label).or_default().push((node, row)));
    }
    let clocks = nodes.iter().filter_map(|&node| Some((node, runs[node].clock?))).collect::<Vec<_>>();
    let clock_usual = median(&clocks.iter().map(|(_, clock)| clock.level).collect::<Vec<_>>()).unwrap_or(0.0);
    let mut tests: Vec<Test> = lasting_of(&clocks, &part(CLOCK, &clocks, &sets), floor)
        .into_iter()
        .map(|deviation| Test { label: CLOCK.into(), of: Of::Clock, what: What::Cost, deviation })
        .collect();
    let mut sums: BTreeMap<usize, (f64, f64, usize)> = BTreeMap::new();
    for (label, figures) in rows {
        let through = figures[0].1.through;
        // One node without a ruler must not take the clock's changes back into the rows of all.
        let ruled = figures.iter().filter(|(_, row)| row.steady.is_some()).count();
        let steady = at_the_clock(through) && 2 * ruled > figures.len();
        let centre = |row: &NodeFigures| if steady { row.steady } else { Some(row.cost) };
        let centres: Vec<(usize, Centre)> =
            figures.iter().filter_map(|(node, row)| Some((*node, centre(row)?))).collect();
        for mut deviation in lasting_of(&centres, &part(label, &centres, &sets), floor) {
            // Shown at the clock that is usual here.
            deviation.usual += if steady { clock_usual } else { 0.0 };
            if deviation.spread < TOO_WIDE {
                let weight = deviation.spread.max(2.0 * LEAST_SPREAD).powi(-2);
                let sum = sums.entry(deviation.node).or_default();
                *sum = (sum.0 + weight * deviation.difference, sum.1 + weight, sum.2 + 1);
            }
            tests.push(Test { label: Arc::clone(label), of: Of::Row(through), what: What::Cost, deviation });
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
        move |deviation| Test { label: Arc::clone(&label), of: Of::AllRows, what, deviation }
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

/// Tells rows of most nodes that a node has no test of.
fn lacking(tests: &[Test], nodes: &[usize], verdicts: &mut [NodeVerdict]) {
    let mut with: BTreeMap<&Arc<str>, BTreeSet<usize>> = BTreeMap::new();
    for test in tests.iter().filter(|test| test.of_a_row()) {
        with.entry(&test.label).or_default().insert(test.deviation.node);
    }
    for (label, with) in with.into_iter().filter(|(_, with)| 2 * with.len() > nodes.len()) {
        let without = nodes.iter().filter(|node| !with.contains(node));
        without.for_each(|&node| verdicts[node].lacking.push(label.to_string()));
    }
}

fn rows_seen(tests: &[Test]) -> Vec<RowSeen> {
    let mut rows: BTreeMap<(Passage, &str), Vec<&Deviation>> = BTreeMap::new();
    for test in tests {
        if let Some(through) = test.through() {
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

/// Tests with their corrected p. Where more than a third of a group would be odd by the same, to
/// the same side, none of them is: the group has kinds.
fn corrected<'t>(
    tests: &'t [Test],
    verdicts: &[NodeVerdict],
    mut groups: Option<&mut Vec<GroupSeen>>,
) -> Vec<(&'t Test, f64)> {
    let (rows, sums): (Vec<&Test>, Vec<&Test>) = tests.iter().partition(|test| test.of_a_row());
    let mut all: Vec<(&Test, f64)> = Vec::new();
    for family in [rows, sums] {
        let ps = holm(&family.iter().map(|test| test.deviation.p).collect::<Vec<_>>());
        all.extend(family.into_iter().zip(ps));
    }
    let Some(groups) = &mut groups else { return all };
    let place = |test: &Test| {
        let group = verdicts[test.deviation.node].group.unwrap_or_default();
        (group, Arc::clone(&test.label), test.what, test.deviation.difference > 0.0)
    };
    let mut accused: BTreeMap<(usize, Arc<str>, What, bool), Vec<usize>> = BTreeMap::new();
    for (test, _) in all.iter().filter(|(test, p)| test.odd(*p)) {
        accused.entry(place(test)).or_default().push(test.deviation.node);
    }
    accused.retain(|(group, ..), nodes| no_rule(groups[*group].nodes.len() - nodes.len(), groups[*group].nodes.len()));
    for (test, p) in &mut all {
        if accused.get(&place(test)).is_some_and(|nodes| nodes.contains(&test.deviation.node)) {
            *p = 1.0;
        }
    }
    for ((group, label, _, costlier), nodes) in accused {
        let others: Vec<usize> = groups[group].nodes.iter().copied().filter(|node| !nodes.contains(node)).collect();
        let of_these = tests.iter().filter(|test| test.label == label && nodes.contains(&test.deviation.node));
        let apart = median(&of_these.map(|test| test.deviation.difference.abs()).collect::<Vec<_>>());
        let (cheap, dear) = if costlier { (others, nodes) } else { (nodes, others) };
        let kinds = vec![(1.0, cheap), (apart.unwrap_or_default().exp(), dear)];
        groups[group].kinds.push(KindsSeen { label: label.to_string(), kinds });
    }
    all
}

/// Puts what is beyond chance and beyond what matters into the verdicts.
fn accuse(runs: &[&NodeRun], tests: &[Test], verdicts: &mut [NodeVerdict], groups: Option<&mut Vec<GroupSeen>>) {
    let mut of_node: BTreeMap<usize, Vec<(&Test, f64)>> = BTreeMap::new();
    for (test, p) in corrected(tests, verdicts, groups) {
        of_node.entry(test.deviation.node).or_default().push((test, p));
    }
    for (node, mut tests) in of_node {
        let verdict = &mut verdicts[node];
        let sum = tests.iter().find(|(test, _)| test.of == Of::AllRows && test.what == What::Cost);
        verdict.all_rows = sum.map(|(test, _)| test.deviation.difference.exp());
        let signature = signature(&tests);
        tests.retain(|(test, p)| test.odd(*p));
        tests.sort_by(|a, b| a.1.total_cmp(&b.1));
        // The sum says nothing that its rows do not say already.
        let single = tests.iter().any(|(test, _)| test.through().is_some());
        tests.retain(|(test, _)| test.of != Of::AllRows || test.what == What::Stopped || !single);
        verdict.findings = tests.iter().map(|(test, p)| finding(test, *p)).collect();
        let has = |what| verdict.findings.iter().any(|finding| finding.what == what && finding.ratio > 1.0);
        if !verdict.findings.is_empty() || !verdict.facts.is_empty() {
            verdict.suspect = Some(suspect(&Known {
                facts: &verdict.facts,
                signature: &signature,
                stopped: has(What::Stopped),
                clock: tests.iter().any(|(test, _)| test.of == Of::Clock),
                costs: verdict.findings.iter().any(|finding| finding.what == What::Cost),
                throttled: runs[node].disturbed_by(&[THROTTLED]),
                neighbours: runs[node].beside_others(),
            }));
        }
    }
    for verdict in verdicts.iter_mut().filter(|verdict| verdict.suspect.is_none() && !verdict.facts.is_empty()) {
        verdict.suspect = Some(suspect(&Known { facts: &verdict.facts, ..Known::default() }));
    }
}

fn finding(test: &Test, p: f64) -> NodeFinding {
    let cost = test.through().is_some();
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
    for (test, _) in tests {
        if let Some(through) = test.through() {
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

/// What a row cost ÷ its cost in earlier rounds, in the middle of all nodes of a hardware.
#[derive(Debug, Clone, PartialEq)]
pub struct CommonChange {
    /// Key of the hardware.
    pub hardware: String,
    /// Label of the row.
    pub label: String,
    /// Cost now ÷ before.
    pub ratio: f64,
}

/// Which nodes changed since earlier rounds, beyond what all nodes did, and that: facts and rows of
/// each, in the order of `now`. Nodes without an earlier run have nothing.
#[must_use]
pub fn changed(before: &[Vec<&NodeRun>], now: &[&NodeRun]) -> (Vec<NodeVerdict>, Vec<CommonChange>) {
    let differences: Vec<Option<NodeRun>> =
        now.iter().zip(before).map(|(now, before)| (!before.is_empty()).then(|| since(before, now))).collect();
    let known: Vec<&NodeRun> = differences.iter().flatten().collect();
    let (groups, verdicts) = judged(&known, false);
    let mut common = Vec::new();
    for group in groups {
        // Of differences the usual cost is the usual change.
        let moved = group.rows.iter().filter(|row| row.median_ns.ln().abs() > What::Cost.least());
        let change = |row: &RowSeen| CommonChange {
            hardware: group.hardware.clone(),
            label: row.label.clone(),
            ratio: row.median_ns,
        };
        common.extend(moved.map(change));
    }
    let mut verdicts = verdicts.into_iter();
    let mut all = Vec::new();
    for (place, difference) in differences.iter().enumerate() {
        let mut verdict = difference.as_ref().and_then(|_| verdicts.next()).unwrap_or_default();
        verdict.facts = before[place].last().map(|last| facts::between(last, now[place])).unwrap_or_default();
        verdict.findings.iter_mut().for_each(|finding| finding.usual_ns = None);
        all.push(verdict);
    }
    (all, common)
}

/// A run less the median of earlier ones.
fn since(before: &[&NodeRun], now: &NodeRun) -> NodeRun {
    let less = |row: &NodeFigures| {
        let earlier: Vec<&NodeFigures> =
            before.iter().filter_map(|run| run.rows.iter().find(|other| other.label == row.label)).collect();
        let stalled = median(&earlier.iter().map(|row| row.stalled).collect::<Vec<_>>())?;
        let steady: Option<Vec<Centre>> = earlier.iter().map(|row| row.steady).collect();
        Some(NodeFigures {
            cost: row.cost.less(&earlier.iter().map(|row| row.cost).collect::<Vec<_>>())?,
            steady: row.steady.zip(steady).and_then(|(now, earlier)| now.less(&earlier)),
            stalled: row.stalled - stalled,
            ..row.clone()
        })
    };
    let clocks: Vec<Centre> = before.iter().filter_map(|run| run.clock).collect();
    let clock = now.clock.and_then(|clock| clock.less(&clocks));
    NodeRun { rows: now.rows.iter().filter_map(less).collect(), clock, ..now.clone() }
}
