//! Runs as a probe would give them, drawn from known distributions.

use std::collections::BTreeMap;
use std::fmt;
use switchcost_analysis::{Analysis, Noise, Row};
use switchcost_catalogue::Catalogue;
use switchcost_model::{
    Clock, Disturbance, EndedBy, Experiment, Hello, Invocation, Judgement, Machine, Phase, Placement, ProcessEnd,
    Request, Run, Samples, Timing, Transcript, Variant,
};

/// Batches of an invocation.
const BATCHES: usize = 30;

/// Units of a batch and their cost in ns: ticks are whole, and 10⁶ of them make rounding vanish.
const UNITS: u64 = 1000;
pub const COST: f64 = 1000.0;

/// SplitMix64: small, known, and the same everywhere.
pub struct Random(u64);

impl Random {
    /// Streams of neighbouring seeds have nothing in common.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_add(1).wrapping_mul(0xD134_2543_DE82_EF95))
    }

    pub fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

/// How costs scatter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Law {
    /// Invocations and batches: 1 % each.
    Normal,
    /// The same on the log scale, and 5 % of batches and of invocations up to half as dear again.
    Outliers,
    /// Half of the invocations cost 10 % more.
    Bimodal,
    /// Costs rise by this share from the first round to the last, for all alike.
    Drift(f64),
    /// Starts scatter by this share, batches by 1 %.
    Scatter(f64),
    /// Starts lie above the cheapest possible one by an exponential tail of this share.
    Tail(f64),
    /// This share of starts costs so much more; otherwise 1 %.
    Mixed(f64, f64),
    /// A clock so coarse that costs come in steps of this share.
    Ties(f64),
}

impl fmt::Display for Law {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Normal => f.write_str("normal, 1 %"),
            Self::Outliers => f.write_str("log-normal, 1 %, 5 % outliers"),
            Self::Bimodal => f.write_str("bimodal between invocations, 10 % apart"),
            Self::Drift(by) => write!(f, "normal, 1 %, drifting by {:.0} % over the rounds", by * 100.0),
            Self::Scatter(by) => write!(f, "normal, {:.0} %", by * 100.0),
            Self::Tail(by) => write!(f, "exponential tail, {:.0} %", by * 100.0),
            Self::Mixed(share, by) => {
                write!(f, "{:.0} % of starts {:.0} % above the others", share * 100.0, by * 100.0)
            }
            Self::Ties(step) => write!(f, "normal, 1 %, heavy ties: in steps of {:.1} %", step * 100.0),
        }
    }
}

impl Law {
    /// No interval of this kind can be narrow enough. A drift spreads the sample evenly, unlike the
    /// independent values that the interval is made for, and looks like starts that follow one
    /// another; where the true median is itself one of few possible values, an end of the interval
    /// often lies on it.
    pub fn over_covers(self) -> bool {
        matches!(self, Self::Drift(_) | Self::Ties(_))
    }

    /// What all batches of an invocation share, from its own standard normal value.
    fn invocation(self, own: f64, round: u64, rounds: u64, random: &mut Random) -> f64 {
        let noise = 0.01 * own;
        match self {
            Self::Normal | Self::Ties(_) => 1.0 + noise,
            Self::Outliers if random.uniform() < 0.05 => noise.exp() * (1.0 + 0.5 * random.uniform()),
            Self::Outliers => noise.exp(),
            Self::Scatter(by) => 1.0 + noise * by / 0.01,
            Self::Tail(by) => 1.0 - by * (1.0 - random.uniform()).ln(),
            Self::Mixed(share, by) => (1.0 + noise) * if random.uniform() < share { 1.0 + by } else { 1.0 },
            Self::Bimodal => (1.0 + noise / 2.0) * if random.uniform() < 0.5 { 1.1 } else { 1.0 },
            Self::Drift(by) => (1.0 + noise) * (1.0 + by * round as f64 / (rounds - 1) as f64),
        }
    }

    fn batch(self, own: f64, random: &mut Random) -> f64 {
        let noise = 0.01 * own;
        match self {
            Self::Outliers if random.uniform() < 0.05 => noise.exp() * (1.0 + 0.5 * random.uniform()),
            Self::Outliers => noise.exp(),
            _ => 1.0 + noise,
        }
    }

    fn ticks(self, cost: f64) -> i64 {
        match self {
            Self::Ties(step) => ((cost / step).round() * step * COST * UNITS as f64).round() as i64,
            _ => (cost * COST * UNITS as f64).round() as i64,
        }
    }

    /// Median of the medians of infinitely many invocations.
    pub fn true_median(self, rounds: u64) -> f64 {
        Course::default().true_median(self, rounds)
    }
}

/// Batches of one kind in a row, on average.
const STRETCH: f64 = 5.0;

/// Standard normal values, each like the one before by this correlation (AR(1)).
#[derive(Clone, Copy)]
struct Wander(f64, Option<f64>);

impl Wander {
    fn next(&mut self, random: &mut Random) -> f64 {
        let new = random.normal();
        let value = self.1.map_or(new, |last| self.0 * last + (1.0 - self.0 * self.0).sqrt() * new);
        self.1 = Some(value);
        value
    }
}

/// What happens to a row on the way, whatever the law of its costs.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Course {
    /// Correlation of a start with the next.
    pub starts: f64,
    /// Correlation of a batch with the next.
    pub batches: f64,
    /// The first batch costs this share more, and each later one's surplus is a third smaller.
    pub warmup: f64,
    /// Share of starts that others disturb: they cost a tenth more, the host sees it, and the slot
    /// is repeated once.
    pub disturbed: f64,
    /// Each start's batches rise or fall by a normal multiple of this share from the first to the
    /// last.
    pub slope: f64,
    /// This share of batches, in stretches of five, costs so much more.
    pub kinds: (f64, f64),
    /// Of starts above the middle four times as many are disturbed as of those below: leaving them
    /// out selects on the outcome.
    pub linked: bool,
}

impl Course {
    /// Ticks of one start, and whether others disturbed it.
    fn start(
        self,
        (law, factor): (Law, f64),
        own: f64,
        (round, rounds): (u64, u64),
        random: &mut Random,
    ) -> (Vec<i64>, bool) {
        let level = factor * law.invocation(own, round, rounds, random);
        let share = match (self.linked, own > 0.0) {
            (false, _) => self.disturbed,
            (true, true) => self.disturbed * 1.6,
            (true, false) => self.disturbed * 0.4,
        };
        let disturbed = share > 0.0 && random.uniform() < share;
        let level = if disturbed { level * 1.1 } else { level };
        let (mut batches, mut surplus) = (Wander(self.batches, None), self.warmup);
        let slope = if self.slope > 0.0 { self.slope * random.normal() } else { 0.0 };
        let (part, by) = self.kinds;
        let mut costlier = part > 0.0 && random.uniform() < part;
        let ticks = (0..BATCHES).map(|place| {
            let own = batches.next(random);
            let cost = level * law.batch(own, random) * (1.0 + surplus) * (1.0 + slope * place as f64 / BATCHES as f64);
            surplus *= 2.0 / 3.0;
            let cost = if costlier { cost * (1.0 + by) } else { cost };
            if part > 0.0 {
                let leave = if costlier { 1.0 } else { part / (1.0 - part) } / STRETCH;
                costlier ^= random.uniform() < leave;
            }
            law.ticks(cost)
        });
        (ticks.collect(), disturbed)
    }

    /// Median of the medians of infinitely many undisturbed starts that are warm: of 60 000.
    pub fn true_median(self, law: Law, rounds: u64) -> f64 {
        let mut random = Random::new(u64::MAX / 2);
        let warm = Self { warmup: 0.0, ..self };
        let starts = (0..60_000).filter_map(|i| {
            let own = random.normal();
            let (ticks, disturbed) = warm.start((law, 1.0), own, (i % rounds, rounds), &mut random);
            let ticks: Vec<f64> = ticks.into_iter().map(|ticks| ticks as f64 / UNITS as f64).collect();
            switchcost_stats::median(&ticks).filter(|_| !disturbed)
        });
        switchcost_stats::median(&starts.collect::<Vec<_>>()).unwrap()
    }

    /// A run of one variant for each factor; the second is the twin of the first.
    pub fn run(self, law: Law, factors: &[f64], rounds: u64, random: &mut Random) -> Run {
        let mut invocations = Vec::new();
        let mut wander = vec![Wander(self.starts, None); factors.len()];
        for round in 0..rounds {
            for (variant, factor) in factors.iter().enumerate() {
                for _ in 0..2 {
                    let own = wander[variant].next(random);
                    let (ticks, disturbed) = self.start((law, *factor), own, (round, rounds), random);
                    let mut start = invocation(variant, round, ticks);
                    if disturbed {
                        start.disturbances.push(Disturbance::ForeignCpu { ns: 1, of_ns: 2 });
                    }
                    invocations.push(start);
                    if !disturbed {
                        break;
                    }
                }
            }
        }
        simulated(factors.len(), rounds, invocations)
    }
}

/// A run of many rows whose starts scatter by `spread`, and batches by so little that three will
/// do. Of the starts' variance `machine.0` is what all rows of a round share, and goes on from
/// round to round by `machine.1`; the rest of each row goes on by its own correlation.
pub fn together(spread: f64, own: &[f64], machine: (f64, f64), rounds: u64, random: &mut Random) -> Run {
    let mut shared = Wander(machine.1, None);
    let mut own: Vec<Wander> = own.iter().map(|phi| Wander(*phi, None)).collect();
    let mut invocations = Vec::new();
    for round in 0..rounds {
        let now = shared.next(random);
        for (variant, own) in own.iter_mut().enumerate() {
            let start = machine.0.sqrt() * now + (1.0 - machine.0).sqrt() * own.next(random);
            let batches = (0..3).map(|_| Law::Normal.ticks((1.0 + spread * start) * (1.0 + 0.001 * random.normal())));
            invocations.push(invocation(variant, round, batches.collect()));
        }
    }
    simulated(own.len(), rounds, invocations)
}

/// A run to which nothing else happens.
pub fn run(law: Law, factors: &[f64], rounds: u64, random: &mut Random) -> Run {
    Course::default().run(law, factors, rounds, random)
}

fn simulated(variants: usize, rounds: u64, invocations: Vec<Invocation>) -> Run {
    Run {
        id: "simulated".into(),
        started_unix_ns: 0,
        ended_unix_ns: Some(1),
        seed: 0,
        ended_by: EndedBy::Rounds,
        tool_version: String::new(),
        method_version: 1,
        command: Vec::new(),
        request: Request { rounds: Some(rounds), ..Request::default() },
        precision_ppm: 20_000,
        budget_ms: 60_000,
        machine: Machine::default(),
        variants: (0..variants).map(variant).collect(),
        not_run: BTreeMap::new(),
        invocations,
    }
}

/// A neighbour on the host's core: for stretches of about 20 batches, this share of all time,
/// batches cost `factor` and the core's ruler half as much again. `linked`: both at the same times;
/// otherwise the ruler has a neighbour of its own.
pub fn disturb(run: &mut Run, share: f64, factor: f64, linked: bool, random: &mut Random) {
    const STRETCH: f64 = 20.0;
    let (mut busy, mut other) = (false, false);
    let next = |busy: bool, random: &mut Random| {
        let leave = if !busy {
            share / (1.0 - share) / STRETCH
        } else if share < 1.0 {
            1.0 / STRETCH
        } else {
            0.0
        };
        if random.uniform() < leave { !busy } else { busy }
    };
    for samples in run.invocations.iter_mut().flat_map(|invocation| &mut invocation.transcript.samples) {
        let mut rulers = Vec::new();
        for ticks in &mut samples.ticks {
            (busy, other) = (next(busy, random), next(other, random));
            *ticks = (*ticks as f64 * if busy { factor } else { 1.0 }) as i64;
            let slow = if linked { busy } else { other };
            // An interrupt now and then is in the ruler alone.
            let ruler = if random.uniform() < 0.03 { 900.0 } else { 300.0 * if slow { 1.5 } else { 1.0 } };
            rulers.push((ruler * (1.0 + 0.01 * random.normal())) as i64);
        }
        // Readings of a clock are never all alike.
        let alike = |ns: i64| (0..rulers.len() as i64).map(|batch| ns + batch % 3).collect();
        samples.rulers.extend([("chain", 580), ("calls", 700)].map(|(name, ns)| (name.into(), alike(ns))));
        samples.rulers.insert("width".into(), rulers);
    }
}

fn variant(index: usize) -> Variant {
    let id = if index < 2 { "thread/pipe".to_owned() } else { format!("thread/pipe-{index}") };
    Variant {
        mechanism: id.parse().unwrap(),
        probe: "simulated".into(),
        experiment: Experiment::usual(),
        contexts: 2,
        placement: Placement::usual(),
        timing: Timing::Batch,
        parameters: BTreeMap::new(),
        label: if index == 1 { "A/A".into() } else { String::new() },
    }
}

fn invocation(variant: usize, round: u64, ticks: Vec<i64>) -> Invocation {
    let clock = Clock { name: "script".into(), ticks_per_second: 1_000_000_000, read_cost_ticks: 0 };
    let hello = Hello {
        protocol: 1,
        probe: "simulated".into(),
        version: "1".into(),
        runtime: String::new(),
        compiler: None,
        flags: None,
        pid: 1,
        clock,
        counter: None,
        chain_cycles: None,
    };
    let samples = Samples { phase: Phase::Measure, units: UNITS, ticks, quantity: None, rulers: BTreeMap::new() };
    Invocation {
        variant,
        round,
        sequence: 0,
        started_unix_ns: 0,
        wall_ns: 1,
        cpus: vec![0],
        environment_padding: 0,
        process: ProcessEnd::Exited(0),
        transcript: Transcript { hello: Some(hello), samples: vec![samples], ..Transcript::default() },
        seen: None,
        judgement: Judgement::VERIFIED,
        disturbances: Vec::new(),
        log: String::new(),
        peak_rss_bytes: 0,
    }
}

/// What A/A pairs among these rows say.
#[allow(dead_code, reason = "not every crate that simulates asks")]
pub fn noise<'a>(rows: impl IntoIterator<Item = &'a Row<'a>>) -> Noise {
    switchcost_analysis::noise(&rows.into_iter().map(|row| &row.judged).collect::<Vec<_>>())
}

/// The rows of a run, in its order.
pub fn rows(run: &Run) -> Vec<Row<'_>> {
    Analysis::new(run, &Catalogue::default()).rows
}

/// Whether all draws are made: by `make test-all SUITES=simulations` and `make generate`. The gate
/// makes a tenth of them.
pub fn whole() -> bool {
    std::env::var_os("SWITCHCOST_DRAWS").is_some_and(|draws| draws == "all")
}

/// How many of `all` draws are made. Their seeds are fixed, so that no outcome depends on chance.
pub fn draws(all: u64) -> u64 {
    if whole() { all } else { all.div_ceil(10) }
}

/// By how many points a share of `drawn` draws, in per cent, may miss its bound: not at all if all
/// draws are made, otherwise by three standard deviations.
pub fn slack(bound: f64, drawn: u64) -> f64 {
    if whole() { 0.0 } else { 3.0 * (bound * (100.0 - bound) / drawn as f64).sqrt() }
}

/// The part of `docs/notebook/coverage.md` between the two marks of this name must be this table.
pub fn document(name: &str, table: &str) {
    documents("notebook/coverage", &[(name, table)]);
}

/// The same of several tables of a page of `docs/`.
pub fn documents(page: &str, tables: &[(&str, &str)]) {
    let docs = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let text = std::fs::read_to_string(docs.join(page).with_extension("md")).unwrap();
    // What differs is left for `make generate`, which puts it into the page.
    let counted = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("counted").join(page);
    let mut stale = Vec::new();
    for (name, table) in tables {
        let (_, rest) = text.split_once(&format!("<!-- {name}: counted by tests of crates/analysis -->\n")).unwrap();
        let (kept, _) = rest.split_once(&format!("<!-- /{name} -->\n")).unwrap();
        // Elsewhere logarithms may differ in their last digit, and with them a count by one; the
        // bounds hold everywhere.
        if !whole() || !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
            continue;
        }
        let file = counted.join(name);
        if kept == *table {
            let _ = std::fs::remove_file(file);
        } else {
            std::fs::create_dir_all(&counted).unwrap();
            std::fs::write(file, table).unwrap();
            stale.push((kept, table));
        }
    }
    assert!(stale.is_empty(), "docs/{page}.md is out of date: `make generate` puts these tables into it: {stale:?}");
}
