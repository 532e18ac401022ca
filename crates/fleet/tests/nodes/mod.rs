//! Fleets of simulated nodes, drawn from kept runs of a real machine (data/example/fleet.json), and
//! what `fleet judge` says of them.

pub mod faults;

use crate::simulation::Random;
use faults::Fault;
use serde::Deserialize;
use std::collections::BTreeMap;
use switchcost_fleet::{NodeRun, NodeSample, judge_fleet};

/// Nodes of a fleet.
pub const NODES: usize = 64;

/// A run that other programs disturbed more than this share of does not count as one of a quiet
/// machine.
const DISTURBED: f64 = 0.1;

/// What the clock's ruler takes in the kept runs, about.
const CLOCK_NS: f64 = 555.0;

/// Which of the kept runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Half {
    /// Odd numbers: rules were made on these.
    Developed,
    /// Even numbers: nobody looked at these before the rules stood.
    Held,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    facts: BTreeMap<String, String>,
    runs: Vec<Line>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    name: String,
    sample: NodeSample,
}

/// Kept runs: those of the quiet machine, and those in which a fault was really there.
pub struct Kept {
    pub clean: Vec<NodeSample>,
    pub faults: BTreeMap<String, Vec<NodeSample>>,
}

impl Kept {
    /// The same with a clock that does not change: what a machine of one frequency would have
    /// given.
    pub fn at_one_clock(mut self) -> Self {
        let steady = |sample: &mut NodeSample| {
            let starts = sample.rows.iter_mut().flat_map(|row| row.medians.iter_mut().chain(&mut row.means));
            starts.for_each(|(_, ns, clock)| *ns *= CLOCK_NS / clock.replace(CLOCK_NS).unwrap());
        };
        self.clean.iter_mut().chain(self.faults.values_mut().flatten()).for_each(steady);
        self
    }

    pub fn of(half: Half) -> Self {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/example/fleet.json");
        let file: File = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let mut all: BTreeMap<String, Vec<NodeSample>> = BTreeMap::new();
        // What all share makes no difference to anybody, and takes time.
        let shared = file.facts.iter().filter(|(name, _)| !name.starts_with("vulnerability."));
        for Line { name, mut sample } in file.runs {
            let (kind, number) = name.rsplit_once('-').unwrap();
            if (number.parse::<u64>().unwrap() % 2 == 1) != (half == Half::Developed) {
                continue;
            }
            shared.clone().for_each(|(name, value)| drop(sample.facts.insert(name.clone(), value.clone())));
            all.entry(kind.to_owned()).or_default().push(sample);
        }
        let mut clean = all.remove("clean").unwrap();
        let busy = |sample: &NodeSample| sample.disturbances.values().max().copied().unwrap_or(0) as f64;
        clean.retain(|sample| busy(sample) <= DISTURBED * sample.starts as f64);
        Self { clean, faults: all }
    }
}

/// How much equal nodes differ: standard deviation of their clock, of what all rows of a node share
/// beside it, and of what each has for itself.
pub type Scatter = f64;

/// Nodes of one kind.
pub const ALIKE: Scatter = 0.005;

/// Nodes that cooling and silicon make unlike one another.
pub const UNEVEN: Scatter = 0.02;

pub fn drawn<'a, T>(all: &'a [T], random: &mut Random) -> &'a T {
    &all[(random.uniform() * all.len() as f64) as usize]
}

/// Another run of a node like this: the starts of each row drawn anew, with repetition, and its
/// costs moved by what nodes differ in.
fn node(sample: &NodeSample, scatter: Scatter, random: &mut Random) -> NodeSample {
    let last = sample.rows.iter().flat_map(|row| &row.means).map(|(round, ..)| round + 1).max().unwrap_or(0);
    let (clock, common) = ((scatter * random.normal()).exp(), scatter * random.normal());
    let mut factors: BTreeMap<String, f64> = BTreeMap::new();
    let mut node = sample.clone();
    for row in &mut node.rows {
        let name = row.twin_of.as_ref().unwrap_or(&row.row).clone();
        let factor = *factors.entry(name).or_insert_with(|| (common + scatter * random.normal()).exp());
        let rounds: Vec<u64> = (0..last).map(|_| (random.uniform() * last as f64) as u64).collect();
        for starts in [&mut row.medians, &mut row.means] {
            // A start that was disturbed was repeated in its round.
            let all = std::mem::take(starts);
            for (to, from) in rounds.iter().enumerate() {
                let of = all.iter().filter(|(round, ..)| round == from);
                starts.extend(of.map(|(_, ns, ruler)| (to as u64, ns * factor * clock, ruler.map(|ns| ns * clock))));
            }
        }
    }
    node
}

/// What came of the fleets of one case.
#[derive(Debug, Clone, Copy, Default)]
pub struct Count {
    pub faulty: usize,
    pub found: usize,
    /// Found, with a suspect that is right.
    pub right: usize,
    pub innocent: usize,
    pub accused: usize,
}

impl Count {
    pub fn recall(self) -> f64 {
        self.found as f64 * 100.0 / self.faulty as f64
    }

    pub fn suspects(self) -> f64 {
        self.right as f64 * 100.0 / self.found as f64
    }

    pub fn per_thousand(self) -> f64 {
        self.accused as f64 * 1000.0 / self.innocent as f64
    }

    pub fn add(&mut self, other: Self) {
        self.faulty += other.faulty;
        self.found += other.found;
        self.right += other.right;
        self.innocent += other.innocent;
        self.accused += other.accused;
    }
}

/// Judges so many fleets. Each has these faults, on nodes of their own.
pub fn count(kept: &Kept, scatter: Scatter, nodes: usize, faults: &[&Fault], fleets: u64) -> Count {
    let mut count = Count::default();
    for number in 0..fleets {
        let random = &mut Random::new(number * 1000 + faults.len() as u64);
        let mut fleet: Vec<NodeSample> =
            (0..nodes).map(|_| node(drawn(&kept.clean, random), scatter, random)).collect();
        let mut planted: BTreeMap<usize, &Fault> = BTreeMap::new();
        for fault in faults {
            let mut place = (random.uniform() * nodes as f64) as usize;
            while planted.contains_key(&place) {
                place = (place + 1) % nodes;
            }
            if let Some(real) = fault.real {
                fleet[place] = node(drawn(&kept.faults[real], random), scatter, random);
            }
            (fault.plant)(&mut fleet[place], random);
            planted.insert(place, fault);
        }
        let runs: Vec<NodeRun> = fleet.iter().map(NodeSample::figures).collect();
        let (_, verdicts) = judge_fleet(&runs.iter().collect::<Vec<_>>());
        for (place, verdict) in verdicts.iter().enumerate() {
            let odd = usize::from(verdict.odd());
            let Some(fault) = planted.get(&place) else {
                count.innocent += 1;
                count.accused += odd;
                continue;
            };
            count.faulty += 1;
            count.found += odd;
            count.right += usize::from(verdict.suspect.is_some_and(|suspect| fault.right.contains(&suspect)));
        }
    }
    count
}
