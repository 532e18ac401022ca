//! Made-up runs.

use std::collections::BTreeMap;
use switchcost_model::*;

const ROUNDS: u64 = 10;
const UNITS: u64 = 10_000;
/// Two reads of the counter, ns.
const PAIR: f64 = 20.0;

/// A row of a made-up run.
#[derive(Clone)]
pub struct Made {
    pub cost: f64,
    /// From round to round the cost scatters by this fraction, up and down.
    pub scatter: f64,
    pub away: Option<f64>,
    pub kernel: bool,
    pub turns: bool,
    pub verdict: Verdict,
}

impl Made {
    pub fn costing(cost: f64) -> Self {
        Self { cost, scatter: 0.002, away: Some(0.0), kernel: true, turns: true, verdict: Verdict::Verified }
    }
}

/// Run → label of a row (with the probe after an @) → the row; output of programs beside it.
pub struct Data {
    pub runs: BTreeMap<String, BTreeMap<String, Made>>,
    pub tools: Option<(f64, f64, f64)>,
    pub longjmp: Option<String>,
}

impl Data {
    pub fn put(&mut self, run: &str, label: &str, cost: f64) {
        self.runs.entry(run.into()).or_default().insert(label.into(), Made::costing(cost));
    }

    pub fn remove(&mut self, run: &str, label: &str) {
        self.runs.get_mut(run).unwrap().remove(label).unwrap();
    }

    pub fn row(&mut self, run: &str, label: &str) -> &mut Made {
        self.runs.get_mut(run).unwrap().get_mut(label).unwrap()
    }
}

fn variant(label: &str) -> Variant {
    let (words, tag) = label.split_once(" (").map_or((label, ""), |(words, tag)| (words, tag.trim_end_matches(')')));
    let mut words = words.split(' ');
    let name = words.next().unwrap();
    let (name, probe) = name.split_once('@').unwrap_or((name, "probe"));
    let mut variant = Variant {
        mechanism: name.parse().unwrap(),
        probe: probe.into(),
        experiment: Experiment::Switch,
        contexts: 2,
        placement: Placement::OneCpu,
        timing: Timing::Batch,
        parameters: BTreeMap::new(),
        label: tag.into(),
    };
    for word in words {
        match word.split_once('=') {
            Some(("contexts", number)) => variant.contexts = number.parse().unwrap(),
            Some((name, value)) => drop(variant.parameters.insert(name.into(), value.into())),
            None if word == "each" => variant.timing = Timing::Each,
            None if word == "create" => variant.experiment = Experiment::Create,
            None if word == "footprint" => variant.experiment = Experiment::Footprint,
            None => variant.placement = word.parse().unwrap(),
        }
    }
    variant
}

fn transcript(made: &Made, variant: &Variant, round: u64) -> Transcript {
    let cost = made.cost * (1.0 + made.scatter * (((round * 7) % 5) as f64 - 2.0));
    let clock = Clock { name: "made up".into(), ticks_per_second: 1_000_000_000, read_cost_ticks: 20 };
    let hello = Hello {
        protocol: 1,
        probe: variant.probe.clone(),
        version: "1".into(),
        runtime: String::new(),
        compiler: Some(variant.probe.clone()),
        flags: None,
        pid: 1,
        clock,
        counter: Some("made up".into()),
    };
    let (mut samples, mut histograms, mut units) = (Vec::new(), Vec::new(), UNITS);
    match variant.timing {
        Timing::Batch => {
            let ticks = vec![(cost * UNITS as f64).round() as i64; 10];
            units *= ticks.len() as u64;
            samples.push(Samples {
                phase: Phase::Measure,
                units: UNITS,
                ticks,
                quantity: None,
                rulers: BTreeMap::new(),
            });
        }
        // Counter ticks of 1/1000 ns, so that costs below a nanosecond are exact.
        Timing::Each => {
            let ticks = ((cost + PAIR) * 1_000.0).round() as u64;
            histograms.push(Histogram {
                phase: Phase::Measure,
                units: UNITS,
                bits: 40,
                buckets: vec![(ticks, UNITS)],
                sum: ticks * UNITS,
                min: ticks,
                max: ticks,
                pair_sum: (PAIR * 1_000.0) as u64 * UNITS,
                pair_count: UNITS,
                span_counter: 1_000_000_000_000,
                span_clock: 1_000_000_000,
            });
        }
    }
    let kernel = KernelSwitches { voluntary: units, involuntary: 0, tasks: 2, source: "made up".into() };
    let same = |away: f64| ((1.0 - away) * units as f64) as u64;
    let evidence = Evidence {
        units,
        turns: Some(Turns {
            total: if made.turns { units } else { units - 1 },
            min: units / 2,
            max: units / 2,
            contexts: 2,
        }),
        kernel: made.kernel.then_some(kernel),
        hops: made.away.map(|away| Hops {
            count: units,
            in_order: units,
            same_cpu: same(away),
            same_thread: Some(same(away)),
            timed: true,
        }),
        ..Evidence::default()
    };
    Transcript { hello: Some(hello), samples, histograms, evidence: Some(evidence), ..Transcript::default() }
}

pub fn run(name: &str, rows: &BTreeMap<String, Made>) -> Run {
    let variants: Vec<Variant> = rows.keys().map(|label| variant(label)).collect();
    let start = |round: u64, index: usize, made: &Made| Invocation {
        variant: index,
        round,
        sequence: round * rows.len() as u64 + index as u64,
        started_unix_ns: 0,
        wall_ns: 1,
        cpus: vec![0],
        environment_padding: 0,
        peak_rss_bytes: 0,
        process: ProcessEnd::Exited(0),
        transcript: transcript(made, &variants[index], round),
        seen: None,
        judgement: Judgement::new(
            made.verdict,
            if made.verdict == Verdict::Verified { "" } else { "it was made up so" },
        ),
        disturbances: Vec::new(),
        log: String::new(),
    };
    let rounds = (0..ROUNDS).flat_map(|round| rows.values().enumerate().map(move |(i, made)| (round, i, made)));
    let invocations = rounds.map(|(round, index, made)| start(round, index, made)).collect();
    Run {
        id: name.into(),
        started_unix_ns: 0,
        ended_unix_ns: Some(1),
        seed: 1,
        ended_by: EndedBy::Rounds,
        tool_version: "0".into(),
        method_version: 1,
        command: vec!["switchcost".into(), "run".into()],
        request: switchcost_model::Request::default(),
        precision_ppm: 20_000,
        budget_ms: 1_000,
        machine: Machine { stable: BTreeMap::from([("cpu.logical".into(), "2".into())]), ..Machine::default() },
        variants,
        not_run: BTreeMap::new(),
        invocations,
    }
}
