//! How often `fleet judge` is right: nodes drawn from real runs of one machine, with faults that were made there.
//!
//! Seeds are fixed. The counts become the tables of `docs/fleet.md`; `SWITCHCOST_BLESS=1` rewrites them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use switchcost_analysis::{NodeFigures, NodeRun, NodeVerdict, Suspect, changed, judge_fleet};
use switchcost_model::Passage;

const STARTS: &str = include_str!("../../../data/fleet-starts.tsv");

/// A real run.
#[derive(Default)]
struct Kept {
    kind: String,
    starts: usize,
    facts: BTreeMap<String, String>,
    disturbed: BTreeMap<String, usize>,
    rows: Vec<(Arc<str>, Passage, Vec<f64>, Vec<f64>)>,
}

fn kept() -> Vec<Kept> {
    let mut all: Vec<Kept> = Vec::new();
    let list = |text: &str| text.split(',').map(|ns| ns.parse().unwrap()).collect::<Vec<f64>>();
    for line in STARTS.lines() {
        let words: Vec<&str> = line.split('\t').collect();
        match words[..] {
            ["run", kind, starts] => {
                all.push(Kept { kind: kind.into(), starts: starts.parse().unwrap(), ..Kept::default() });
            }
            ["fact", name, value] => drop(all.last_mut().unwrap().facts.insert(name.into(), value.into())),
            ["disturbed", kind, n] => drop(all.last_mut().unwrap().disturbed.insert(kind.into(), n.parse().unwrap())),
            ["row", label, through, medians, means] => {
                let row = (label.into(), through.parse().unwrap(), list(medians), list(means));
                all.last_mut().unwrap().rows.push(row);
            }
            _ => panic!("{line}"),
        }
    }
    all
}

/// SplitMix64, so that the figures are the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (((z ^ (z >> 31)) as u128 * bound as u128) >> 64) as usize
    }
}

/// What is planted in a node.
#[derive(Clone, Copy, PartialEq)]
enum Fault {
    None,
    /// A real run under it; with what the machine tells of it, or, as where a namespace hides it, without.
    Real(&'static str, bool),
    /// Another release of the kernel, which costs the same.
    KernelFacts,
    /// Every row × this.
    AllRows(f64),
    /// Rows that go through one of these × this.
    Through(&'static [Passage], f64),
}

const KERNEL: &[Passage] = &[Passage::Entry, Passage::Switch, Passage::Group];

impl Fault {
    fn suspects(self) -> &'static [Suspect] {
        match self {
            Self::None => &[],
            Self::Real("quota", true) => &[Suspect::Quota],
            // Without facts and counts a quota and a neighbour stop the node alike.
            Self::Real("quota", false) => &[Suspect::Quota, Suspect::Neighbour],
            Self::Real("neighbour", _) => &[Suspect::Neighbour],
            Self::Real(..) => &[Suspect::CgroupDepth],
            Self::KernelFacts => &[Suspect::Kernel],
            Self::AllRows(_) => &[Suspect::Clock],
            Self::Through(passages, _) if passages.len() == 3 => &[Suspect::Kernel],
            Self::Through(..) => &[Suspect::IdleStates],
        }
    }

    fn name(self) -> String {
        match self {
            Self::None => "none".into(),
            Self::Real("quota", true) => "quota of 90 % of a CPU".into(),
            Self::Real("quota", false) => "the same, hidden".into(),
            Self::Real("neighbour", true) => "busy loop on the measured CPU".into(),
            Self::Real("neighbour", false) => "the same, hidden".into(),
            Self::Real(_, true) => "three cgroups deeper".into(),
            Self::Real(_, false) => "the same, hidden".into(),
            Self::KernelFacts => "another kernel release, equal costs".into(),
            Self::AllRows(factor) => format!("all rows +{:.0} %", (factor - 1.0) * 100.0),
            Self::Through(KERNEL, factor) => format!("kernel rows +{:.0} %", (factor - 1.0) * 100.0),
            Self::Through(_, factor) => format!("wake-ups +{:.0} %", (factor - 1.0) * 100.0),
        }
    }
}

/// A node: a real run, its starts drawn again with replacement.
fn node(kept: &[Kept], random: &mut Random, fault: Fault) -> NodeRun {
    let kind = if let Fault::Real(kind, _) = fault { kind } else { "healthy" };
    let of_kind: Vec<&Kept> = kept.iter().filter(|run| run.kind == kind).collect();
    let run = of_kind[random.below(of_kind.len())];
    let mut again = |all: &[f64], factor: f64| -> Vec<f64> {
        (0..all.len()).map(|_| all[random.below(all.len())] * factor).collect()
    };
    let rows = run.rows.iter().filter_map(|(label, through, medians, means)| {
        let factor = match fault {
            Fault::AllRows(factor) => factor,
            Fault::Through(passages, factor) if passages.contains(through) => factor,
            _ => 1.0,
        };
        NodeFigures::new(Arc::clone(label), *through, &again(medians, factor), &again(means, factor))
    });
    let rows = rows.collect();
    let hidden = matches!(fault, Fault::Real(_, false));
    let mut facts = if hidden { BTreeMap::new() } else { run.facts.clone() };
    facts.insert("cpu.model".into(), "1".into());
    let release = if fault == Fault::KernelFacts { "6.1.0-50" } else { "6.1.0-56" };
    facts.insert("kernel.release".into(), release.into());
    NodeRun {
        run: String::new(),
        started_unix_ns: 0,
        method_version: 1,
        tool_version: String::new(),
        host: None,
        facts: Arc::new(facts),
        rows,
        twin: None,
        disturbances: if hidden { BTreeMap::new() } else { run.disturbed.clone() },
        starts: run.starts,
        unusable: Vec::new(),
    }
}

/// Counts over fleets.
#[derive(Default)]
struct Count {
    planted: usize,
    found: usize,
    named: usize,
    innocents: usize,
    accused: usize,
}

/// Fleets of this many nodes, each with as many of these faults.
fn fleets(kept: &[Kept], seed: u64, fleets: usize, nodes: usize, faults: &[Fault]) -> Count {
    let mut random = Random(seed);
    let mut count = Count::default();
    for _ in 0..fleets {
        let planted = |place: usize| faults.get(place).copied().unwrap_or(Fault::None);
        let runs: Vec<NodeRun> = (0..nodes).map(|place| node(kept, &mut random, planted(place))).collect();
        let (_, verdicts) = judge_fleet(&runs.iter().collect::<Vec<_>>());
        for (place, verdict) in verdicts.iter().enumerate() {
            let fault = planted(place);
            if fault == Fault::None {
                count.innocents += 1;
                count.accused += usize::from(verdict.odd());
            } else {
                count.planted += 1;
                count.found += usize::from(verdict.odd());
                count.named += usize::from(verdict.suspect.is_some_and(|one| fault.suspects().contains(&one)));
            }
        }
    }
    count
}

fn percent(part: usize, whole: usize) -> String {
    format!("{:.1} %", 100.0 * part as f64 / whole.max(1) as f64)
}

/// The part of `docs/fleet.md` between the two marks of this name must be this table.
fn document(name: &str, table: &str) {
    static ONE_AT_A_TIME: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock().unwrap();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/fleet.md");
    let text = std::fs::read_to_string(path).unwrap();
    let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- end of {name} -->\n"));
    let (before, rest) = text.split_once(&begin).unwrap();
    let (published, after) = rest.split_once(&end).unwrap();
    // Elsewhere logarithms may differ in their last digit; the bounds hold everywhere.
    if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        return;
    }
    if std::env::var_os("SWITCHCOST_BLESS").is_some() {
        std::fs::write(path, format!("{before}{begin}{table}{end}{after}")).unwrap();
    } else {
        assert_eq!(published, table, "docs/fleet.md is out of date: run this test with SWITCHCOST_BLESS=1");
    }
}

/// What the issue asks for: 64 nodes, five kinds of fault, one of each.
#[test]
fn five_faults_among_sixty_four_nodes() {
    let kept = kept();
    let five = [
        Fault::Real("quota", true),
        Fault::Real("neighbour", true),
        Fault::KernelFacts,
        Fault::AllRows(1.05),
        Fault::Real("depth", true),
    ];
    let all = fleets(&kept, 1, 200, 64, &five);
    let (found, named) = (all.found as f64 / all.planted as f64, all.named as f64 / all.planted as f64);
    println!("five: found {found} named {named} accused {} of {}", all.accused, all.innocents);
    assert!(found >= 0.95, "only {found} of the faults are found");
    assert!(named >= 0.8, "only {named} of the faults get their suspect");
    assert!(all.accused * 1000 <= all.innocents, "{} of {} innocents are accused", all.accused, all.innocents);
    let quiet = fleets(&kept, 2, 200, 64, &[]);
    println!("quiet: accused {} of {}", quiet.accused, quiet.innocents);
    assert!(quiet.accused * 1000 <= quiet.innocents, "{} of {} innocents are accused", quiet.accused, quiet.innocents);
}

#[test]
fn recall_by_size_of_fault() {
    let kept = kept();
    let mut faults = Vec::new();
    for kind in ["quota", "neighbour", "depth"] {
        faults.extend([Fault::Real(kind, true), Fault::Real(kind, false)]);
    }
    faults.push(Fault::KernelFacts);
    faults.extend([1.02, 1.03, 1.05, 1.1, 1.2].map(Fault::AllRows));
    faults.extend([1.03, 1.05, 1.1, 1.2].map(|factor| Fault::Through(KERNEL, factor)));
    faults.extend([1.1, 1.3, 2.0, 4.0].map(|factor| Fault::Through(&[Passage::Wake], factor)));
    let mut table =
        "| fault, in one node of | 8 | 16 | 64 | right suspect, of those found among 64 |\n|---|---|---|---|---|\n"
            .to_owned();
    for (seed, fault) in faults.into_iter().enumerate() {
        let of = |nodes: usize| fleets(&kept, 100 + seed as u64, 100, nodes, &[fault]);
        let (few, some, many) = (of(8), of(16), of(64));
        let cell = |count: &Count| percent(count.found, count.planted);
        writeln!(
            table,
            "| {} | {} | {} | {} | {} |",
            fault.name(),
            cell(&few),
            cell(&some),
            cell(&many),
            percent(many.named, many.found)
        )
        .unwrap();
    }
    document("recall", &table);
}

#[test]
fn innocents_are_accused_at_most_once_in_a_thousand() {
    let kept = kept();
    let mut table = "| nodes | fleets | node-runs | accused | of 1,000 |\n|---|---|---|---|---|\n".to_owned();
    for (nodes, count) in [(6, 1000), (8, 1000), (16, 500), (64, 200), (256, 50)] {
        let all = fleets(&kept, nodes as u64, count, nodes, &[]);
        let rate = all.accused as f64 * 1000.0 / all.innocents as f64;
        writeln!(table, "| {nodes} | {count} | {} | {} | {rate:.2} |", all.innocents, all.accused).unwrap();
        assert!(rate <= 1.0, "{nodes} nodes: {rate} of 1,000 innocents are accused");
    }
    document("innocents", &table);
}

/// Several bad nodes do not hide one another, up to a quarter of the fleet.
#[test]
fn several_bad_nodes_do_not_hide_one_another() {
    let kept = kept();
    let all = fleets(&kept, 5, 50, 64, &[Fault::AllRows(1.2); 8]);
    assert!(all.found * 100 >= all.planted * 95, "{} of {}", all.found, all.planted);
    assert!(all.accused * 1000 <= all.innocents, "{} of {}", all.accused, all.innocents);
}

/// Over rounds: a node that always was slower did not change, and one that became so did.
#[test]
fn what_changed_is_not_what_always_was_so() {
    let kept = kept();
    let (mut random, mut told) = (Random(9), [0; 3]);
    for _ in 0..30 {
        let round = |random: &mut Random, of_second: Fault| -> Vec<NodeRun> {
            let fault = |place| [Fault::AllRows(1.2), of_second].get(place).copied().unwrap_or(Fault::None);
            (0..32).map(|place| node(&kept, random, fault(place))).collect()
        };
        let (first, second) = (round(&mut random, Fault::None), round(&mut random, Fault::AllRows(1.2)));
        let before: Vec<Vec<&NodeRun>> = first.iter().map(|run| vec![run]).collect();
        let verdicts = changed(&before, &second.iter().collect::<Vec<_>>());
        let moved = |verdict: &NodeVerdict| usize::from(!verdict.findings.is_empty());
        told[0] += moved(&verdicts[0]);
        told[1] += moved(&verdicts[1]);
        told[2] += verdicts[2..].iter().map(moved).sum::<usize>();
    }
    assert!(told[0] == 0 && told[1] >= 27 && told[2] <= 1, "{told:?}");
}
