//! The verdict on a fleet: which nodes are unlike the others.

mod page;
mod text;

use crate::nodes::{
    CommonChange, FactDifference, FactSplit, GroupSeen, KindsSeen, NodeFinding, NodeRun, NodeVerdict, RowSeen, Suspect,
    What, changed, judge_fleet,
};
use crate::passage::Passage;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;
use switchcost_report::text::json;

pub use page::fleet_page;
pub use text::fleet_text;

/// A fact in which a node differs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "fact that differs", deny_unknown_fields)]
pub struct FleetFact {
    /// Name of the fact.
    pub name: String,
    /// Value of this node.
    pub value: String,
    /// Value of most nodes of its hardware; between rounds, the value before.
    pub common: String,
    /// How many nodes have that; 0 between rounds.
    pub nodes: usize,
}

/// A row that is unlike that of the other nodes.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "odd row", deny_unknown_fields)]
pub struct FleetFinding {
    /// Label of the row, its probe included; `all rows` is their weighted sum, `clock` the ruler
    /// that the clock alone slows.
    pub row: String,
    /// `cost`: what it costs while nothing stops it; `stopped`: how long it was stopped.
    pub what: &'static str,
    /// ÷ that of the others.
    pub ratio: f64,
    /// Cost of the others, ns; null for sums, stops and differences between rounds.
    pub usual_ns: Option<f64>,
    /// Nodes that it was held against.
    pub others: usize,
    /// Chance of any such difference in the whole fleet, were all nodes equal, as Student's t and
    /// Holm's correction have it.
    pub p: f64,
}

/// A row that a node has no usable figure of.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "row without a figure", deny_unknown_fields)]
pub struct FleetUnusable {
    /// Label of the row.
    pub row: String,
    /// Why.
    pub reason: String,
}

/// A node that answered.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "node", deny_unknown_fields)]
pub struct FleetNode {
    /// Name: that of its file.
    pub node: String,
    /// Id of its run.
    pub run: String,
    /// Place of its group in `groups`.
    pub group: usize,
    /// Its group is large enough for a verdict, and it has a usable row.
    pub judged: bool,
    /// It is unlike the others.
    pub odd: bool,
    /// It was measured again: true if it was odd again, false if not; null if it was not measured
    /// again.
    pub confirmed: Option<bool>,
    /// What it may point to; null if nothing is odd.
    pub suspect: Option<&'static str>,
    /// What would confirm that.
    pub confirm: Option<&'static str>,
    /// Share of its starts beside which others ran: programs, or guests of its host.
    pub disturbed: f64,
    /// Sum of its rows ÷ that of the others; null if it has too few.
    pub all_rows: Option<f64>,
    /// Facts that few others share.
    pub facts: Vec<FleetFact>,
    /// Odd rows, the surest first.
    pub findings: Vec<FleetFinding>,
    /// Rows that are not judged, since this node has no usable figure of them.
    pub unusable: Vec<FleetUnusable>,
    /// Against earlier rounds: `new` (odd now, changed), `always` (odd now, as before), `changed`
    /// (not odd, and not as before), `same`; null with one round.
    pub history: Option<&'static str>,
    /// Facts that changed since the last round.
    pub facts_changed: Vec<FleetFact>,
    /// Rows that changed since the earlier rounds, beyond what all nodes did.
    pub rows_changed: Vec<FleetFinding>,
}

/// Another value of a fact.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "other value", deny_unknown_fields)]
pub struct FleetValue {
    /// Value.
    pub value: String,
    /// Nodes that have it.
    pub nodes: Vec<String>,
}

/// A fact of which a group has several values.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "split fact", deny_unknown_fields)]
pub struct FleetSplit {
    /// Name.
    pub name: String,
    /// Value of most nodes.
    pub common: String,
    /// How many have it.
    pub nodes: usize,
    /// Other values.
    pub others: Vec<FleetValue>,
}

/// A row over the nodes of a group.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "row of a group", deny_unknown_fields)]
pub struct FleetRow {
    /// Label.
    pub row: String,
    /// What it goes through.
    #[schemars(with = "String")]
    pub through: Passage,
    /// Median over nodes, ns.
    pub median_ns: f64,
    /// Standard deviation between nodes at the same clock, as a fraction.
    pub spread: f64,
    /// Nodes that have it.
    pub nodes: usize,
}

/// What all nodes of a group did since the earlier rounds.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "common change", deny_unknown_fields)]
pub struct FleetChange {
    /// Label of the row.
    pub row: String,
    /// Cost now ÷ before, in the middle of the nodes.
    pub ratio: f64,
}

/// Nodes that cost the same by a row.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "kind of nodes", deny_unknown_fields)]
pub struct FleetKind {
    /// ÷ the cost of the cheapest kind.
    pub ratio: f64,
    /// Its nodes.
    pub nodes: Vec<String>,
}

/// A row by which the nodes of a group fall into kinds.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "row with kinds", deny_unknown_fields)]
pub struct FleetKinds {
    /// Label of the row.
    pub row: String,
    /// The kinds, the cheapest first.
    pub kinds: Vec<FleetKind>,
}

/// Nodes of the same hardware.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "group", deny_unknown_fields)]
pub struct FleetGroup {
    /// Key of the hardware.
    pub hardware: String,
    /// Processor, CPUs, hypervisor.
    pub name: String,
    /// Number of nodes.
    pub nodes: usize,
    /// There are at least six.
    pub judged: bool,
    /// Facts that differ among them.
    pub facts: Vec<FleetSplit>,
    /// Standard deviation of the clock between nodes, as a fraction; null without rulers.
    pub clock_spread: Option<f64>,
    /// Rows.
    pub rows: Vec<FleetRow>,
    /// Rows by which its nodes fall into kinds of which none is the rule: nobody is called odd for
    /// being of one.
    pub kinds: Vec<FleetKinds>,
    /// Rows that cost more or less than in the earlier rounds on most nodes; a change that all went
    /// through makes none of them odd.
    pub since: Vec<FleetChange>,
}

/// A file, or what it says, that was not taken as it is.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "problem", deny_unknown_fields)]
pub struct FleetProblem {
    /// Name of the file.
    pub file: String,
    /// The file is left out.
    pub left_out: bool,
    /// What is the matter.
    pub what: String,
}

/// The verdict on a fleet.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "switchcost fleet", deny_unknown_fields)]
pub struct Fleet {
    /// Version of this form. New fields do not change it.
    pub format: u32,
    /// Rounds that were read.
    pub rounds: usize,
    /// Nodes that did not answer in the last round: expected ones, or without a list of these those
    /// that answered in an earlier round.
    pub missing: Vec<String>,
    /// Nodes that nobody expected.
    pub unexpected: Vec<String>,
    /// Groups, the largest first.
    pub groups: Vec<FleetGroup>,
    /// Nodes of the last round, the odd ones first.
    pub nodes: Vec<FleetNode>,
    /// Files that were not taken as they are.
    pub problems: Vec<FleetProblem>,
    /// Nodes that were odd again when measured again, and whose names can stand on a command line.
    pub drain: Vec<String>,
    /// How far this can be trusted.
    pub caution: &'static str,
}

/// What was counted, and on what, is said wherever a node is named, or none is.
const CAUTION: &str = "An odd node is a suspicion: in simulated fleets of 64 nodes, made of one machine's runs, at most 1 of 1,000 equal nodes is named, and faults of a few percent are often missed (docs/fleet.md).";

/// What came of a round: nodes with their runs.
pub type Round = Vec<(String, NodeRun)>;

impl Fleet {
    /// Judges the last round, against the earlier ones if there are any.
    #[must_use]
    pub fn judge(rounds: &[Round], expected: Option<&[String]>, problems: Vec<FleetProblem>) -> Self {
        let last: &[(String, NodeRun)] = rounds.last().map_or(&[], Vec::as_slice);
        let runs: Vec<&NodeRun> = last.iter().map(|(_, run)| run).collect();
        let (groups, verdicts) = judge_fleet(&runs);
        let earlier = rounds.get(..rounds.len().saturating_sub(1)).unwrap_or_default();
        let (since, common) = since(earlier, last);
        let answered = |name: &String| last.binary_search_by(|(node, _)| node.cmp(name)).is_ok();
        // Without a list, whoever answered in an earlier round should have in the last.
        let before: BTreeSet<&String> = earlier.iter().flatten().map(|(name, _)| name).collect();
        let wanted: BTreeSet<&String> = expected.map_or(before, |expected| expected.iter().collect());
        let missing = wanted.into_iter().filter(|name| !answered(name)).cloned().collect();
        let nobody = |name: &&String| expected.is_some_and(|expected| !expected.contains(name));
        let unexpected = last.iter().map(|(node, _)| node).filter(nobody).cloned().collect();
        let mut place_of = vec![0; last.len()];
        for (place, group) in groups.iter().enumerate() {
            group.nodes.iter().for_each(|node| place_of[*node] = place);
        }
        let mut nodes: Vec<FleetNode> = verdicts
            .iter()
            .enumerate()
            .map(|(place, verdict)| {
                let (node, run) = &last[place];
                FleetNode {
                    judged: groups[place_of[place]].judged && !run.rows.is_empty(),
                    disturbed: run.beside_others(),
                    unusable: unusable(run, verdict),
                    history: since.get(place).and_then(|change| history(verdict, change.as_ref()?)),
                    facts_changed: since.get(place).into_iter().flatten().flat_map(|one| facts(&one.facts)).collect(),
                    rows_changed: since.get(place).into_iter().flatten().flat_map(|one| found(&one.findings)).collect(),
                    ..node_of(node, &run.run, place_of[place], verdict)
                }
            })
            .collect();
        nodes.sort_by(|a, b| (!a.odd, &a.node).cmp(&(!b.odd, &b.node)));
        let mut fleet = Self {
            format: 1,
            rounds: rounds.len(),
            missing,
            unexpected,
            groups: groups.iter().map(|group| group_of(group, last, &common)).collect(),
            nodes,
            problems,
            drain: Vec::new(),
            caution: CAUTION,
        };
        fleet.settle();
        fleet
    }

    /// Nodes that were odd, and were measured again: those that are odd again stay so.
    pub fn confirm(&mut self, again: &Self, measured: &[String]) {
        for node in &mut self.nodes {
            if !measured.contains(&node.node) {
                continue;
            }
            let second = again.nodes.iter().find(|other| other.node == node.node);
            let row = |finding: &FleetFinding| (finding.row.clone(), finding.what, finding.ratio > 1.0);
            let as_before = |second: &FleetNode| {
                second.facts == node.facts && !node.facts.is_empty()
                    || second.findings.iter().any(|one| node.findings.iter().any(|own| row(own) == row(one)))
            };
            let odd = second.is_some_and(|second| if node.odd { as_before(second) } else { second.odd });
            node.confirmed = Some(odd);
            if node.odd && !odd {
                node.odd = false;
            }
        }
        self.settle();
    }

    fn settle(&mut self) {
        self.nodes.sort_by(|a, b| (!a.odd, &a.node).cmp(&(!b.odd, &b.node)));
        let again = self.nodes.iter().filter(|node| node.odd && node.confirmed == Some(true));
        self.drain = again.map(|node| &node.node).filter(|name| is_plain(name)).cloned().collect();
    }

    /// The nodes of a group fall into kinds of which none is the rule.
    #[must_use]
    pub fn any_kinds(&self) -> bool {
        self.groups.iter().any(|group| !group.kinds.is_empty())
    }

    /// Nodes of which most starts were disturbed, if they are most of those that are judged: that
    /// they are alike says nothing of them.
    #[must_use]
    pub fn disturbed(&self) -> Option<usize> {
        let judged = self.nodes.iter().filter(|node| node.judged);
        let disturbed = judged.clone().filter(|node| node.disturbed > 0.5).count();
        (2 * disturbed > judged.count()).then_some(disturbed)
    }

    /// Any node is odd.
    #[must_use]
    pub fn any_odd(&self) -> bool {
        self.nodes.iter().any(|node| node.odd)
    }
}

/// A name that can stand on a command line.
#[must_use]
pub fn is_plain(name: &str) -> bool {
    let good = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    !name.is_empty() && name.len() <= 253 && !name.starts_with('-') && name.bytes().all(good)
}

/// What changed of each node since the earlier rounds; nothing with one round.
fn since(earlier: &[Round], last: &[(String, NodeRun)]) -> (Vec<Option<NodeVerdict>>, Vec<CommonChange>) {
    if earlier.is_empty() {
        return (Vec::new(), Vec::new());
    }
    let of = |name: &String| -> Vec<&NodeRun> {
        earlier.iter().flatten().filter(|(node, _)| node == name).map(|(_, run)| run).collect()
    };
    let before: Vec<Vec<&NodeRun>> = last.iter().map(|(name, _)| of(name)).collect();
    let runs: Vec<&NodeRun> = last.iter().map(|(_, run)| run).collect();
    let (verdicts, common) = changed(&before, &runs);
    let known = |(verdict, before): (NodeVerdict, Vec<&NodeRun>)| (!before.is_empty()).then_some(verdict);
    (verdicts.into_iter().zip(before).map(known).collect(), common)
}

fn history(verdict: &NodeVerdict, change: &NodeVerdict) -> Option<&'static str> {
    let moved = !change.facts.is_empty() || !change.findings.is_empty();
    Some(match (verdict.odd(), moved) {
        (true, true) => "new",
        (true, false) => "always",
        (false, true) => "changed",
        (false, false) => "same",
    })
}

fn node_of(node: &str, run: &str, group: usize, verdict: &NodeVerdict) -> FleetNode {
    FleetNode {
        node: node.to_owned(),
        run: run.to_owned(),
        group,
        judged: false,
        odd: verdict.odd(),
        confirmed: None,
        suspect: verdict.suspect.map(Suspect::word),
        confirm: verdict.suspect.map(Suspect::confirm),
        disturbed: 0.0,
        all_rows: verdict.all_rows,
        facts: facts(&verdict.facts),
        findings: found(&verdict.findings),
        unusable: Vec::new(),
        history: None,
        facts_changed: Vec::new(),
        rows_changed: Vec::new(),
    }
}

fn unusable(run: &NodeRun, verdict: &NodeVerdict) -> Vec<FleetUnusable> {
    let earlier = run.unusable.iter().cloned();
    let new = verdict.lacking.iter().filter(|row| run.unusable.iter().all(|(earlier, _)| earlier != *row));
    let reason = "its run has no such row, or none with the clock's ruler beside it";
    earlier
        .chain(new.map(|row| (row.clone(), reason.to_owned())))
        .map(|(row, reason)| FleetUnusable { row, reason })
        .collect()
}

fn facts(all: &[FactDifference]) -> Vec<FleetFact> {
    let of = |fact: &FactDifference| FleetFact {
        name: fact.name.clone(),
        value: fact.value.clone(),
        common: fact.common.clone(),
        nodes: fact.common_nodes,
    };
    all.iter().map(of).collect()
}

fn found(all: &[NodeFinding]) -> Vec<FleetFinding> {
    let of = |finding: &NodeFinding| FleetFinding {
        row: finding.row.clone(),
        what: match finding.what {
            What::Cost => "cost",
            What::Stopped => "stopped",
        },
        ratio: finding.ratio,
        usual_ns: finding.usual_ns,
        others: finding.others,
        p: finding.p,
    };
    all.iter().map(of).collect()
}

fn group_of(group: &GroupSeen, last: &[(String, NodeRun)], common: &[CommonChange]) -> FleetGroup {
    let names = |nodes: &Vec<usize>| -> Vec<String> {
        let mut names: Vec<String> = nodes.iter().map(|node| last[*node].0.clone()).collect();
        names.sort();
        names
    };
    let kinds = |seen: &KindsSeen| FleetKinds {
        row: seen.label.clone(),
        kinds: seen.kinds.iter().map(|(ratio, nodes)| FleetKind { ratio: *ratio, nodes: names(nodes) }).collect(),
    };
    let split = |split: &FactSplit| FleetSplit {
        name: split.name.clone(),
        common: split.common.clone(),
        nodes: split.common_nodes,
        others: split
            .others
            .iter()
            .map(|(value, nodes)| FleetValue { value: value.clone(), nodes: names(nodes) })
            .collect(),
    };
    let row = |row: &RowSeen| FleetRow {
        row: row.label.clone(),
        through: row.through,
        median_ns: row.median_ns,
        spread: row.spread,
        nodes: row.nodes,
    };
    let fact = |name: &str| group.nodes.first().and_then(|node| last[*node].1.facts.get(name)).cloned();
    let cpus = fact("cpu.logical").map(|cpus| format!("{cpus} CPUs"));
    let words = [fact("cpu.model_name"), cpus, fact("hypervisor")];
    FleetGroup {
        hardware: group.hardware.clone(),
        name: words.into_iter().flatten().collect::<Vec<_>>().join(" · "),
        nodes: group.nodes.len(),
        judged: group.judged,
        facts: group.splits.iter().map(split).collect(),
        clock_spread: group.clock_spread,
        rows: group.rows.iter().map(row).collect(),
        kinds: group.kinds.iter().map(kinds).collect(),
        since: common
            .iter()
            .filter(|change| change.hardware == group.hardware)
            .map(|change| FleetChange { row: change.label.clone(), ratio: change.ratio })
            .collect(),
    }
}

/// `fleet judge --format json`.
#[must_use]
pub fn fleet_json(fleet: &Fleet) -> String {
    json(fleet)
}

/// JSON Schema of [`fleet_json`]'s object.
#[must_use]
pub fn fleet_schema() -> String {
    json(&schemars::schema_for!(Fleet))
}
