//! Values of nodes that are unlike those of the other nodes.

use std::collections::{BTreeMap, BTreeSet};
use switchcost_stats::{FEWEST, Others, median, two_sided};

/// Fewest nodes of a group that a verdict rests on: as many as starts that have an interval.
pub const FEWEST_NODES: usize = FEWEST;

/// Smallest spread that is believed: two figures of one node scatter as much.
pub(super) const LEAST_SPREAD: f64 = 0.005;

/// Degrees of freedom at most. Nodes scatter with longer tails than the normal distribution has.
const MOST_FREEDOM: f64 = 12.0;

/// A spread from the MAD of so many values is known as well as a standard deviation of this share
/// of them would be: its efficiency at the normal distribution.
const OF_A_MAD: f64 = 0.37;

/// What of a row is odd.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    /// What it costs while nothing stops it.
    Cost,
    /// How long it was stopped.
    Stopped,
}

impl What {
    /// Smallest difference that is told, as a logarithm.
    pub(super) fn least(self) -> f64 {
        match self {
            Self::Cost => 0.025,
            // The share from which a start counts as disturbed.
            Self::Stopped => 0.05,
        }
    }
}

/// A value of a node, on a logarithmic scale.
#[derive(Debug, Clone, Copy)]
pub(super) struct Value {
    pub node: usize,
    pub value: f64,
    /// Its own standard error.
    pub within: f64,
}

/// How far a value lies from those of the others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Deviation {
    pub node: usize,
    /// From the median of the others.
    pub difference: f64,
    /// Standard deviation that a node like them has.
    pub spread: f64,
    /// Median of the others.
    pub usual: f64,
    /// Number of the others.
    pub others: usize,
    /// Chance of such a difference among equals, uncorrected.
    pub p: f64,
}

impl Deviation {
    /// Of a node that nothing is said of.
    pub(super) fn none(node: usize, usual: f64) -> Self {
        Self { node, difference: 0.0, spread: LEAST_SPREAD, usual, others: 0, p: 1.0 }
    }

    /// Chance, unless it is more than what single starts of a node differ by, to either side.
    pub(super) fn beyond(&mut self, (faster, slower): (f64, f64)) {
        if (-faster..=slower).contains(&self.difference) {
            self.p = 1.0;
        }
    }
}

/// The deviation of each node from those that it is held against: its own set, or the first where
/// its own is too small.
pub(super) fn deviations(values: &[Value], sets: &[Vec<usize>], floor: f64) -> Vec<Deviation> {
    let of: BTreeMap<usize, Value> = values.iter().map(|value| (value.node, *value)).collect();
    let large = |set: &Vec<usize>| set.iter().filter(|node| of.contains_key(*node)).count() > FEWEST_NODES;
    let all: Vec<usize> = of.keys().copied().collect();
    let first = sets.iter().find(|set| large(set)).unwrap_or(&all);
    let mut found = Vec::new();
    let mut rest: Vec<usize> = Vec::new();
    for set in sets {
        if large(set) && set != first {
            found.extend(against(set, set, &of, floor));
        } else if set != first {
            rest.extend(set.iter().filter(|node| of.contains_key(*node)));
        }
    }
    found.extend(against(first, first, &of, floor));
    if first != &all {
        found.extend(against(&rest, first, &of, floor));
    }
    found.sort_by_key(|deviation| deviation.node);
    found
}

fn against(nodes: &[usize], peers: &[usize], of: &BTreeMap<usize, Value>, floor: f64) -> Vec<Deviation> {
    let peers: Vec<Value> = peers.iter().filter_map(|node| of.get(node)).copied().collect();
    let known: BTreeSet<usize> = peers.iter().map(|peer| peer.node).collect();
    let mut others = Others::new(&peers.iter().map(|peer| peer.value).collect::<Vec<_>>());
    let typical = median(&peers.iter().map(|peer| peer.within).collect::<Vec<_>>()).unwrap_or(0.0);
    let deviation = |value: &Value| {
        let count = others.len() - usize::from(known.contains(&value.node));
        let (usual, scatter) = others.without(value.value)?;
        let spread = scatter.max(typical).max(value.within).max(floor).max(LEAST_SPREAD);
        let difference = value.value - usual;
        let freedom = ((count as f64 - 1.0) * OF_A_MAD).clamp(1.0, MOST_FREEDOM);
        let p = two_sided(difference / spread, freedom);
        (count + 1 >= FEWEST_NODES).then_some(Deviation {
            node: value.node,
            difference,
            spread,
            usual,
            others: count,
            p,
        })
    };
    nodes.iter().filter_map(|node| of.get(node)).filter_map(deviation).collect()
}

/// Of deviations of typical, faster and slower starts those that all starts share: what slowed a
/// node for a while says nothing of the node itself.
pub(super) fn lasting(typical: Vec<Deviation>, faster: &[Deviation], slower: &[Deviation]) -> Vec<Deviation> {
    let of = |side: &[Deviation], node: usize| {
        side.binary_search_by_key(&node, |deviation| deviation.node).ok().map(|place| side[place])
    };
    let both = |one: Deviation| {
        let other = of(if one.difference > 0.0 { faster } else { slower }, one.node)?;
        let difference = match one.difference * other.difference > 0.0 {
            true if other.difference.abs() < one.difference.abs() => other.difference,
            true => one.difference,
            false => 0.0,
        };
        let p = if difference == 0.0 { 1.0 } else { one.p.max(other.p) };
        Some(Deviation { difference, p, ..one })
    };
    typical.into_iter().filter_map(both).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn values(all: &[f64]) -> Vec<Value> {
        all.iter().enumerate().map(|(node, value)| Value { node, value: *value, within: 0.0 }).collect()
    }

    #[test]
    fn below_six_nodes_nobody_is_accused() {
        let sets = [(0..5).collect::<Vec<_>>()];
        assert!(deviations(&values(&[0.0, 0.0, 0.0, 0.0, 9.0]), &sets, 0.0).is_empty());
        let sets = [(0..6).collect::<Vec<_>>()];
        assert_eq!(deviations(&values(&[0.0, 0.0, 0.0, 0.0, 0.0, 9.0]), &sets, 0.0).len(), 6);
    }

    #[test]
    fn a_small_set_is_held_against_the_largest() {
        let sets = [(0..8).collect::<Vec<_>>(), vec![8, 9]];
        let found = deviations(&values(&[0.0, 0.01, 0.0, 0.01, 0.0, 0.01, 0.0, 0.01, 1.0, 1.0]), &sets, 0.0);
        assert!(found[8].difference > 0.9 && found[9].difference > 0.9 && found[0].difference.abs() < 0.02);
    }

    #[test]
    fn what_only_some_starts_show_is_not_told() {
        let sets = [(0..8).collect::<Vec<_>>()];
        let of = |last: f64| deviations(&values(&[0.0, 0.01, 0.0, 0.01, 0.0, 0.01, 0.0, last]), &sets, 0.0);
        assert!(lasting(of(0.1), &of(0.09), &of(0.2))[7].difference > 0.08);
        assert!(lasting(of(0.1), &of(0.0), &of(0.2))[7].difference < 0.01);
        assert!(lasting(of(-0.1), &of(-0.2), &of(0.1))[7].p > 0.99);
    }

    proptest! {
        /// Another unit of time changes no verdict, and neither does the order of the nodes.
        #[test]
        fn neither_unit_nor_order_matters(all in proptest::collection::vec(-1.0..1.0f64, 7..40), shift in -5.0..5.0f64) {
            let sets = [(0..all.len()).collect::<Vec<_>>()];
            let plain = deviations(&values(&all), &sets, 0.0);
            let moved: Vec<f64> = all.iter().rev().map(|value| value + shift).collect();
            for (a, b) in plain.iter().zip(deviations(&values(&moved), &sets, 0.0).iter().rev()) {
                prop_assert!((a.difference - b.difference).abs() < 1e-9 && (a.p - b.p).abs() < 1e-6);
            }
        }

        /// The further off, the less likely by chance.
        #[test]
        fn further_off_is_odder(all in proptest::collection::vec(-1.0..1.0f64, 7..40), more in 0.0..5.0f64) {
            let mut all = all;
            let sets = [(0..all.len()).collect::<Vec<_>>()];
            all[0] = 2.0;
            let near = deviations(&values(&all), &sets, 0.0)[0].p;
            all[0] += more;
            prop_assert!(deviations(&values(&all), &sets, 0.0)[0].p <= near);
        }
    }
}
