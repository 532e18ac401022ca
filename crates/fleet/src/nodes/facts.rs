//! Facts by which nodes of one hardware differ: the first thing to say of them.

use super::node::NodeRun;
use std::collections::{BTreeMap, BTreeSet};
use switchcost_model::{SOFTWARE_FACTS, counts, hardware_key, is_known};

/// What each boot measures anew: equal machines differ in it.
const MEASURED: &str = "clock.tsc_hz";

/// Facts beside those of the software: how the hardware is laid out, and which preemption model is
/// in force.
const LAYOUT: &[&str] = &["topology.", "kernel.preempt_mode"];

/// A value that not more than one in so many nodes has is the odd one.
const RARE: usize = 4;

/// A fact of which a group has several values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FactSplit {
    /// Name.
    pub name: String,
    /// Value of most nodes.
    pub common: String,
    /// How many have it.
    pub common_nodes: usize,
    /// The other values with their nodes.
    pub others: Vec<(String, Vec<usize>)>,
}

/// A fact in which a node differs from most.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FactDifference {
    /// Name.
    pub name: String,
    /// Value of this node.
    pub value: String,
    /// Value of most.
    pub common: String,
    /// How many have that.
    pub common_nodes: usize,
}

/// Key of the hardware, for grouping.
#[must_use]
pub fn hardware_of(facts: &BTreeMap<String, String>) -> String {
    let lasting = facts.iter().filter(|(name, _)| *name != MEASURED);
    hardware_key(&lasting.map(|(name, value)| (name.clone(), value.clone())).collect())
}

fn compared(name: &str) -> bool {
    counts(SOFTWARE_FACTS, name) || counts(LAYOUT, name)
}

fn known(run: &NodeRun) -> impl Iterator<Item = (&str, &str)> {
    let facts = run.facts.iter().filter(|(name, value)| compared(name) && is_known(value));
    facts.map(|(name, value)| (name.as_str(), value.as_str()))
}

/// Facts with several values among these nodes. A fact that a node cannot read says nothing.
pub(super) fn splits(runs: &[&NodeRun], nodes: &[usize]) -> Vec<FactSplit> {
    let mut all: BTreeMap<&str, BTreeMap<&str, Vec<usize>>> = BTreeMap::new();
    for &node in nodes {
        for (name, value) in known(runs[node]) {
            all.entry(name).or_default().entry(value).or_default().push(node);
        }
    }
    let split = |(name, values): (&str, BTreeMap<&str, Vec<usize>>)| {
        let (common, with) = values.iter().max_by_key(|(_, nodes)| nodes.len())?;
        let others = values.iter().filter(|(value, _)| value != &common);
        let others: Vec<_> = others.map(|(value, nodes)| ((*value).to_owned(), nodes.clone())).collect();
        (!others.is_empty()).then(|| FactSplit {
            name: name.to_owned(),
            common: (*common).to_owned(),
            common_nodes: with.len(),
            others,
        })
    };
    all.into_iter().filter_map(split).collect()
}

/// Of each node the facts that few others share. Where no value is that of most, there is nothing
/// to differ from.
pub(super) fn rare(splits: &[FactSplit], nodes: usize) -> BTreeMap<usize, Vec<FactDifference>> {
    let mut all: BTreeMap<usize, Vec<FactDifference>> = BTreeMap::new();
    let most =
        |split: &&FactSplit| split.common_nodes > split.others.iter().map(|(_, nodes)| nodes.len()).sum::<usize>();
    for split in splits.iter().filter(most) {
        for (value, with) in split.others.iter().filter(|(_, with)| with.len() * RARE <= nodes.max(RARE)) {
            for &node in with {
                all.entry(node).or_default().push(FactDifference {
                    name: split.name.clone(),
                    value: value.clone(),
                    common: split.common.clone(),
                    common_nodes: split.common_nodes,
                });
            }
        }
    }
    all
}

/// Nodes of the same software, by the facts in which the group differs at all; the largest set
/// first.
pub(super) fn alike(runs: &[&NodeRun], nodes: &[usize], splits: &[FactSplit]) -> Vec<Vec<usize>> {
    let names: BTreeSet<&str> = splits.iter().map(|split| split.name.as_str()).collect();
    let mut sets: BTreeMap<Vec<Option<&str>>, Vec<usize>> = BTreeMap::new();
    for &node in nodes {
        let values = names.iter().map(|name| runs[node].facts.get(*name).map(String::as_str));
        sets.entry(values.collect()).or_default().push(node);
    }
    let mut sets: Vec<Vec<usize>> = sets.into_values().collect();
    sets.sort_by_key(|set| std::cmp::Reverse(set.len()));
    sets
}

/// What changed from one run of a node to another.
pub(super) fn between(before: &NodeRun, after: &NodeRun) -> Vec<FactDifference> {
    let was: BTreeMap<&str, &str> = known(before).collect();
    let differ =
        known(after).filter_map(|(name, value)| Some((name, value, *was.get(name).filter(|was| **was != value)?)));
    differ
        .map(|(name, value, was)| FactDifference {
            name: name.to_owned(),
            value: value.to_owned(),
            common: was.to_owned(),
            common_nodes: 0,
        })
        .collect()
}
