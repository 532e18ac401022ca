//! The promises of `fleet judge`, kept by counting: fleets of simulated nodes, drawn from runs of a
//! real machine, go through the functions that it uses.
//!
//! Seeds are fixed. The counts are those of `docs/notebook/fleet.md`; where they differ, `make
//! generate` puts what the test counted last into it.

use crate::nodes::faults::{Fault, clocks, graded, named};
use crate::nodes::{ALIKE, Count, Half, Kept, NODES, Scatter, UNEVEN, count};
use crate::simulation::{documents, draws, slack};
use std::fmt::Write as _;
use switchcost_fleet::{KindsSeen, NodeRun, NodeSample, NodeVerdict, judge_fleet};

/// Nodes of a fleet that have the fault of a cell, and fleets of it.
const PLANTED: usize = 5;
const FLEETS: u64 = 40;

fn percent(share: f64, digits: usize) -> String {
    if share.is_nan() { "–".to_owned() } else { format!("{share:.digits$} %") }
}

fn cell(kept: &Kept, scatter: Scatter, fault: &Fault) -> Count {
    count(kept, scatter, NODES, &[fault; PLANTED], draws(FLEETS))
}

/// A line for each fault: how many are found, and in which of these the suspect fits.
fn alike(kept: &Kept, faults: &[Fault]) -> (String, Count) {
    let mut table = String::from("| fault | size | found | with a suspect that fits |\n|---|---|---|---|\n");
    let mut sum = Count::default();
    for fault in faults {
        let count = cell(kept, ALIKE, fault);
        let (found, fits) = (percent(count.recall(), 0), percent(count.suspects(), 0));
        let _ = writeln!(table, "| {} | {} | {found} | {fits} |", fault.name, fault.size);
        sum.add(count);
    }
    (table, sum)
}

/// Fleets without a fault, and with each of the five that the issue names.
fn fleets(kept: &Kept, fleets: u64) -> (String, Vec<(&'static str, Count)>) {
    let named = named();
    let five: Vec<&Fault> = named.iter().collect();
    let cases: [(&str, Scatter, usize, &[&Fault]); 6] = [
        ("64 equal nodes", ALIKE, 64, &[]),
        ("64 nodes, each fault on one", ALIKE, 64, &five),
        ("16 equal nodes", ALIKE, 16, &[]),
        ("8 equal nodes", ALIKE, 8, &[]),
        ("64 uneven nodes", UNEVEN, 64, &[]),
        ("64 uneven nodes, each fault on one", UNEVEN, 64, &five),
    ];
    let mut table = String::from(
        "| fleet | runs of innocent nodes | named falsely, of 1,000 | faults found | with a suspect that fits |\n|---|---|---|---|---|\n",
    );
    let mut counts = Vec::new();
    for (name, scatter, nodes, faults) in cases {
        let count = count(kept, scatter, nodes, faults, fleets);
        let (found, fits) = (percent(count.recall(), 1), percent(count.suspects(), 1));
        let _ = writeln!(table, "| {name} | {} | {:.2} | {found} | {fits} |", count.innocent, count.per_thousand());
        counts.push((name, count));
    }
    (table, counts)
}

/// At most one of 1,000 innocent nodes of a fleet of 64 is accused, and in smaller fleets anybody
/// in at most one of twenty; of the five faults at least 95 % are found, and 80 % of these with a
/// suspect that fits.
fn holds(counts: &[(&str, Count)]) {
    for (name, count) in counts {
        let nodes: f64 = name.split_whitespace().next().unwrap().parse().unwrap();
        let most = if nodes < 64.0 { 50.0 / nodes } else { 1.0 };
        assert!(count.per_thousand() <= most + few(most, count), "{name}: {count:?}");
    }
    let (name, five) = counts[1];
    let few = slack(95.0, five.faulty as u64);
    assert!(five.recall() >= 95.0 - few && five.suspects() >= 80.0 - few, "{name}: {five:?}");
}

/// Slack of a bound on innocent nodes of 1,000.
fn few(most: f64, count: &Count) -> f64 {
    10.0 * slack(most / 10.0, count.innocent as u64)
}

#[test]
fn the_five_faults_are_found_and_innocents_are_not_accused() {
    let kept = Kept::of(Half::Held);
    let (table, counts) = fleets(&kept, draws(400));
    holds(&counts);
    documents("notebook/fleet", &[("fleets", &table)]);
}

#[test]
fn what_is_found_by_the_size_of_the_fault() {
    let kept = Kept::of(Half::Held);
    let (table, sum) = alike(&kept, &graded());
    assert!(sum.per_thousand() <= 1.0 + few(1.0, &sum), "{sum:?}");
    let (steady, _) = alike(&Kept::of(Half::Held).at_one_clock(), &clocks());
    let (wandering, _) = alike(&kept, &clocks());
    documents("notebook/fleet", &[("sizes", &table), ("steady-clock", &steady), ("wandering-clock", &wandering)]);
}

/// The rules were made on the other half of the runs; there they hold as well.
#[test]
fn the_runs_that_rules_were_made_on_are_judged_alike() {
    let (_, counts) = fleets(&Kept::of(Half::Developed), draws(100));
    holds(&counts);
}

/// Equal nodes, of which these are changed, and what is said of all.
fn judged(change: impl Fn(&mut [NodeSample])) -> Vec<NodeVerdict> {
    let kept = Kept::of(Half::Held).at_one_clock();
    let mut fleet: Vec<NodeSample> = (0..16).map(|node| kept.clean[node % kept.clean.len()].clone()).collect();
    change(&mut fleet);
    let runs: Vec<NodeRun> = fleet.iter().map(NodeSample::figures).collect();
    judge_fleet(&runs.iter().collect::<Vec<_>>()).1
}

#[test]
fn a_fact_that_each_node_has_another_value_of_accuses_nobody() {
    let verdicts = judged(|fleet| {
        for (node, sample) in fleet.iter_mut().enumerate() {
            sample.facts.insert("kernel.release".into(), format!("6.1.{node}"));
        }
    });
    assert!(verdicts.iter().all(|verdict| verdict.facts.is_empty()), "{verdicts:?}");
}

/// Half of a fleet on another kernel, in the middle of its upgrade: each half is held against
/// itself.
#[test]
fn half_a_fleet_with_another_kernel_is_nobody_s_fault() {
    let verdicts = judged(|fleet| {
        for sample in fleet.iter_mut().take(8) {
            sample.facts.insert("kernel.release".into(), "5.4.0".into());
            sample
                .rows
                .iter_mut()
                .flat_map(|row| row.medians.iter_mut().chain(&mut row.means))
                .for_each(|start| start.1 *= 1.1);
        }
    });
    assert!(!verdicts.iter().any(NodeVerdict::odd), "{verdicts:?}");
}

/// No fact tells the halves apart: which of them is odd, the figures cannot say.
#[test]
fn half_a_fleet_that_costs_more_is_told_as_kinds() {
    let kept = Kept::of(Half::Held).at_one_clock();
    let judged = |slow: usize| {
        let mut fleet: Vec<NodeSample> = (0..24).map(|node| kept.clean[node % kept.clean.len()].clone()).collect();
        let starts = fleet.iter_mut().take(slow).flat_map(|sample| &mut sample.rows);
        starts.flat_map(|row| row.medians.iter_mut().chain(&mut row.means)).for_each(|start| start.1 *= 1.1);
        let runs: Vec<NodeRun> = fleet.iter().map(NodeSample::figures).collect();
        judge_fleet(&runs.iter().collect::<Vec<_>>())
    };
    for slow in 9..=15 {
        let (groups, verdicts) = judged(slow);
        assert!(!verdicts.iter().any(NodeVerdict::odd), "{slow}: {verdicts:?}");
        let dear: Vec<usize> = (0..slow).collect();
        let fits = |kinds: &&KindsSeen| {
            let mut nodes = kinds.kinds[1].1.clone();
            nodes.sort_unstable();
            kinds.kinds.len() == 2 && nodes == dear && (kinds.kinds[1].0 - 1.1).abs() < 0.02
        };
        assert!(groups[0].kinds.iter().filter(fits).count() >= 3, "{slow}: {:?}", groups[0].kinds);
    }
    // Two that are unlike both kinds hide neither kind, and are named.
    let mut fleet: Vec<NodeSample> = (0..24).map(|node| kept.clean[node % kept.clean.len()].clone()).collect();
    for (node, sample) in fleet.iter_mut().enumerate() {
        let factor = match node {
            3 => 1.6,
            17 => 1.3,
            0..12 => 1.1,
            _ => 1.0,
        };
        let starts = sample.rows.iter_mut().flat_map(|row| row.medians.iter_mut().chain(&mut row.means));
        starts.for_each(|start| start.1 *= factor);
    }
    let runs: Vec<NodeRun> = fleet.iter().map(NodeSample::figures).collect();
    let (groups, verdicts) = judge_fleet(&runs.iter().collect::<Vec<_>>());
    let odd: Vec<usize> = (0..24).filter(|node| verdicts[*node].odd()).collect();
    assert!(odd == [3, 17] && !groups[0].kinds.is_empty(), "{odd:?} {:?}", groups[0].kinds);
    for slow in [1, 4, 6] {
        let (groups, verdicts) = judged(slow);
        let odd: Vec<usize> = (0..24).filter(|node| verdicts[*node].odd()).collect();
        assert_eq!(odd, (0..slow).collect::<Vec<_>>(), "{verdicts:?}");
        assert!(groups[0].kinds.is_empty(), "{:?}", groups[0].kinds);
    }
}

#[test]
fn a_row_that_a_node_lacks_is_told() {
    const ROW: &str = "control/null-syscall@gcc-12";
    let lacking = |verdicts: Vec<NodeVerdict>| verdicts.into_iter().map(|verdict| verdict.lacking).collect::<Vec<_>>();
    assert!(lacking(judged(|_| ())).concat().is_empty());
    let mut without = lacking(judged(|fleet| fleet[3].rows.retain(|row| row.row != ROW)));
    assert_eq!(without.remove(3), [ROW]);
    assert!(without.concat().is_empty(), "{without:?}");
    // Where most lack it, nobody is asked for it.
    let few = judged(|fleet| fleet.iter_mut().skip(4).for_each(|node| node.rows.retain(|row| row.row != ROW)));
    assert!(lacking(few).concat().is_empty());
}

/// Clocks of nodes wander by a tenth: without the ruler, no row could be held against others.
#[test]
fn a_missing_ruler_costs_its_own_node_only() {
    let kept = Kept::of(Half::Held).at_one_clock();
    let mut fleet: Vec<NodeSample> = (0..16).map(|node| kept.clean[node % kept.clean.len()].clone()).collect();
    for (node, sample) in fleet.iter_mut().enumerate() {
        let clock = 1.0 + 0.02 * (node % 6) as f64;
        let starts = sample.rows.iter_mut().flat_map(|row| row.medians.iter_mut().chain(&mut row.means));
        starts.for_each(|(_, ns, ruler)| (*ns, *ruler) = (*ns * clock, ruler.map(|ruler| ruler * clock)));
    }
    let judged = |fleet: &[NodeSample]| {
        let runs: Vec<NodeRun> = fleet.iter().map(NodeSample::figures).collect();
        let (groups, verdicts) = judge_fleet(&runs.iter().collect::<Vec<_>>());
        (groups[0].rows.clone(), verdicts)
    };
    let (whole, _) = judged(&fleet);
    fleet[5].rows.iter_mut().flat_map(|row| row.medians.iter_mut()).for_each(|start| start.2 = None);
    let (rows, verdicts) = judged(&fleet);
    for (row, before) in rows.iter().zip(&whole) {
        assert!(row.label == before.label && row.spread < 1.5 * before.spread, "{row:?}, before {before:?}");
    }
    for (node, verdict) in verdicts.iter().enumerate() {
        assert!(!verdict.odd() && verdict.lacking.is_empty() == (node != 5), "{node}: {verdict:?}");
    }
}
