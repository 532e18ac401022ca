//! Rows by which the nodes of a group fall into kinds: then none of them is unlike the others.

use super::node::Centre;
use super::odd::{FEWEST_NODES, LEAST_SPREAD, What};
use std::collections::BTreeSet;
use switchcost_stats::{SIGMAS, mad, median, modes};

/// Of so many nodes, one kind has to be this share at least for the others to be odd ones.
const MOST: (usize, usize) = (2, 3);

/// Cost of each kind ÷ that of the cheapest, and its nodes, the cheapest first.
pub type Kinds = Vec<(f64, Vec<usize>)>;

/// Kinds of a group by one row.
#[derive(Debug, Clone, PartialEq)]
pub struct KindsSeen {
    /// Label of the row.
    pub label: String,
    /// The kinds.
    pub kinds: Kinds,
}

/// So many of these nodes do not make a rule that the others break.
pub(super) fn no_rule(largest: usize, nodes: usize) -> bool {
    largest * MOST.1 < nodes * MOST.0
}

/// Kinds of nodes by what they cost.
#[derive(Default)]
pub(super) struct Parted {
    /// Nodes that are held against one another, the largest set first.
    pub sets: Vec<Vec<usize>>,
    /// Nodes of kinds too small for that: nothing is said of them.
    pub few: BTreeSet<usize>,
    /// What was parted.
    pub kinds: Vec<Kinds>,
}

impl Parted {
    /// Parts the sets that fall into kinds.
    pub fn new(centres: &[(usize, Centre)], sets: &[Vec<usize>]) -> Self {
        let mut parted = Self::default();
        for set in sets {
            let Some(kinds) = kinds(centres, set) else {
                parted.sets.push(set.clone());
                continue;
            };
            for (_, nodes) in &kinds {
                if nodes.len() > FEWEST_NODES { parted.sets.push(nodes.clone()) } else { parted.few.extend(nodes) }
            }
            parted.kinds.push(kinds);
        }
        parted.sets.sort_by_key(|set| std::cmp::Reverse(set.len()));
        parted
    }
}

/// A gap between halves of a group counts from so many standard deviations within them on.
const GAP: f64 = 4.0;

/// Fewest nodes whose halves can be told by a gap alone.
const FEWEST_HALVED: usize = 2 * FEWEST_NODES;

/// The kinds of a set; `None` where one of them is the rule. What parts them is more than the
/// starts of a node scatter by.
fn kinds(centres: &[(usize, Centre)], set: &[usize]) -> Option<Kinds> {
    if set.len() < FEWEST_NODES {
        return None;
    }
    let set: BTreeSet<usize> = set.iter().copied().collect();
    let mut nodes: Vec<(f64, usize)> =
        centres.iter().filter(|(node, _)| set.contains(node)).map(|(node, centre)| (centre.level, *node)).collect();
    nodes.sort_by(|a, b| a.0.total_cmp(&b.0));
    let within = median(&centres.iter().map(|(_, centre)| centre.high - centre.low).collect::<Vec<_>>())?;
    let levels: Vec<f64> = nodes.iter().map(|(level, _)| *level).collect();
    let sizes = modes(&levels.iter().map(|level| level.exp()).collect::<Vec<_>>());
    let sizes = sizes.iter().map(|mode| (mode.weight * nodes.len() as f64).round() as usize).collect();
    [sizes, halves(&levels)].into_iter().find_map(|sizes| parted(&nodes, &sizes, within))
}

/// Nodes on both sides of the widest gap that leaves more than a third on each; nothing where that
/// is too narrow. Single nodes far off hide none, as they would from [`modes`].
fn halves(levels: &[f64]) -> Vec<usize> {
    let nodes = levels.len();
    let gap = |at: usize| levels[at] - levels[at - 1];
    let places = (1..nodes).filter(|at| no_rule((*at).max(nodes - at), nodes));
    let Some(at) = places.max_by(|a, b| gap(*a).total_cmp(&gap(*b))).filter(|_| nodes >= FEWEST_HALVED) else {
        return Vec::new();
    };
    let scatter = |side: &[f64]| mad(side).map_or(f64::INFINITY, |mad| SIGMAS * mad);
    let within = scatter(&levels[..at]).max(scatter(&levels[at..])).max(LEAST_SPREAD);
    if gap(at) > GAP * within { vec![at, nodes - at] } else { Vec::new() }
}

/// Sorted nodes as kinds of these sizes, if none of them is the rule and they lie apart.
fn parted(nodes: &[(f64, usize)], sizes: &[usize], within: f64) -> Option<Kinds> {
    if sizes.iter().sum::<usize>() != nodes.len() || !no_rule(*sizes.iter().max()?, nodes.len()) {
        return None;
    }
    let mut rest = nodes;
    let mut kinds: Vec<(f64, Vec<usize>)> = Vec::new();
    for size in sizes {
        let (own, others) = rest.split_at_checked(*size)?;
        let level = median(&own.iter().map(|(level, _)| *level).collect::<Vec<_>>())?;
        kinds.push((level, own.iter().map(|(_, node)| *node).collect()));
        rest = others;
    }
    let cheapest = kinds.first()?.0;
    let apart = kinds.windows(2).all(|pair| pair[1].0 - pair[0].0 > What::Cost.least().max(within));
    apart.then(|| kinds.into_iter().map(|(level, nodes)| ((level - cheapest).exp(), nodes)).collect())
}
