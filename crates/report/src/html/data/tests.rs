//! The page's data of runs whose every cost is known.

use super::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use switchcost_model::{
    Capabilities, Clock, EndedBy, EvidenceChange, Experiment, Hello, Invocation, Judgement, Machine, Mechanism,
    Parameter, ParameterKind, Phase, Placement, PlanEcho, ProcessEnd, Run, Samples, Timing, Transcript,
};

/// Units of a batch.
const UNITS: u64 = 10;

fn variant(mechanism: &str, parameters: &[(&str, u64)]) -> Variant {
    Variant {
        mechanism: mechanism.parse().unwrap(),
        probe: "p".into(),
        experiment: Experiment::usual(),
        contexts: 2,
        placement: Placement::usual(),
        timing: Timing::Batch,
        parameters: parameters.iter().map(|(name, value)| ((*name).to_owned(), value.to_string())).collect(),
        label: String::new(),
    }
}

fn samples(ticks: Vec<i64>, units: u64, quantity: Option<&str>) -> Samples {
    Samples { phase: Phase::Measure, units, ticks, quantity: quantity.map(str::to_owned), rulers: BTreeMap::new() }
}

fn invocation(variant: usize, round: u64, samples: Vec<Samples>, ticks_per_second: u64) -> Invocation {
    let hello = Hello {
        protocol: 1,
        probe: "p".into(),
        version: "1".into(),
        runtime: "r".into(),
        compiler: None,
        flags: None,
        pid: 1,
        clock: Clock { name: "c".into(), ticks_per_second, read_cost_ticks: 1 },
        counter: None,
        chain_cycles: None,
    };
    Invocation {
        variant,
        round,
        sequence: 0,
        started_unix_ns: 0,
        wall_ns: 0,
        cpus: vec![],
        environment_padding: 0,
        peak_rss_bytes: 0,
        process: ProcessEnd::Exited(0),
        transcript: Transcript { hello: Some(hello), samples, ..Transcript::default() },
        seen: None,
        judgement: Judgement::VERIFIED,
        disturbances: vec![],
        log: String::new(),
    }
}

/// A run of variants, each with its samples in rounds 0, 1, 2 …
fn echo(variant: &Variant) -> PlanEcho {
    PlanEcho {
        mechanism: variant.mechanism.clone(),
        experiment: variant.experiment,
        contexts: variant.contexts,
        timing: variant.timing,
        cpus: vec![],
        batch_units: UNITS,
        batches: 1,
        warmup_batches: 0,
        parameters: variant.parameters.clone(),
    }
}

fn run(rows: Vec<(Variant, Vec<Vec<Samples>>)>, ticks_per_second: u64) -> Run {
    let mut variants = Vec::new();
    let mut invocations = Vec::new();
    for (index, (variant, rounds)) in rows.into_iter().enumerate() {
        variants.push(variant);
        let start = |(round, samples)| invocation(index, round, samples, ticks_per_second);
        invocations.extend((0..).zip(rounds).map(start));
    }
    for (sequence, invocation) in (0..).zip(&mut invocations) {
        invocation.sequence = sequence;
        invocation.transcript.plan = Some(echo(&variants[invocation.variant]));
    }
    Run {
        id: "r".into(),
        started_unix_ns: 0,
        ended_unix_ns: Some(1),
        seed: 0,
        ended_by: EndedBy::Rounds,
        tool_version: "0".into(),
        method_version: 1,
        command: vec![],
        request: switchcost_model::Request::default(),
        precision_ppm: 20_000,
        budget_ms: 0,
        machine: Machine { stable: [("topology.sockets".to_owned(), "0-1".to_owned())].into(), ..Machine::default() },
        variants,
        not_run: BTreeMap::new(),
        invocations,
    }
}

/// Starts with these costs in ns.
fn costs(costs: [i64; 6]) -> Vec<Vec<Samples>> {
    costs.map(|cost| vec![samples(vec![cost * UNITS as i64; 5], UNITS, None)]).into()
}

/// `x/work`, whose parameter `size` has the control `x/alone`.
fn catalogue() -> Catalogue {
    let mechanism = |id: &str, control: Option<&str>, unit: &str| Mechanism {
        id: id.parse().unwrap(),
        title: String::new(),
        short: String::new(),
        implemented_by: vec![],
        capabilities: [].into(),
        iteration: String::new(),
        includes: String::new(),
        floor: vec![],
        bound: vec![],
        contains: vec![],
        sources: vec![],
        placements: vec![Placement::usual()],
        experiments: vec![Experiment::usual()],
        contexts: BTreeMap::new(),
        leaving_ms: 0,
        unit: unit.into(),
        control: control.is_none(),
        not_a_choice: None,
        most_contexts: None,
        contexts_of: None,
        tags: Vec::new(),
        notes: vec![],
        parameters: [(
            "size".to_owned(),
            Parameter {
                kind: ParameterKind::Integer { min: 0, max: 4096 },
                default: "0".into(),
                help: String::new(),
                experiments: vec![Experiment::usual()],
                control: control.map(|id| id.parse().unwrap()),
                adds_ns: None,
                adds_with: Default::default(),
                seen_value: None,
                counted: None,
                seen: BTreeMap::new(),
                capabilities: Capabilities::default(),
                by_host: false,
            },
        )]
        .into(),
        evidence: EvidenceChange::default(),
        evidence_when: vec![],
        headline: vec![],
        explanations: vec![],
    };
    let mechanisms = vec![mechanism("x/work", Some("x/alone"), "switch"), mechanism("x/alone", None, "pass")];
    Catalogue { mechanisms, ..Catalogue::default() }
}

fn data(runs: &[Run], catalogue: &Catalogue) -> Value {
    bounded(runs, catalogue, MOST_POINTS)
}

fn bounded(runs: &[Run], catalogue: &Catalogue, points: usize) -> Value {
    let sources = vec!["s".to_owned(); runs.len()];
    let runs: Vec<Analysis<'_>> = runs.iter().map(|run| Analysis::new(run, catalogue)).collect();
    let page = Page { runs: &runs, sources: &sources, tool: "t 1", command: "t report", audits: &[] };
    serde_json::to_value(with_room(&page, catalogue, points).unwrap()).unwrap()
}

/// Numbers to six decimals: the ends of an interval of six values lie at 5/14 between the outermost
/// two.
fn rounded(value: &Value) -> Value {
    match value {
        Value::Array(all) => all.iter().map(rounded).collect(),
        Value::Object(all) => all.iter().map(|(name, value)| (name.clone(), rounded(value))).collect(),
        Value::Number(number) if number.is_f64() => json!((number.as_f64().unwrap() * 1e6).round() / 1e6),
        other => other.clone(),
    }
}

/// Each round slows everything by its share; what the control and the bare switch share of it
/// cancels. Not in order, or the rows would wander.
fn swept() -> Vec<(Variant, Vec<Vec<Samples>>)> {
    const ORDER: [usize; 6] = [0, 3, 1, 5, 2, 4];
    let at = |size: u64, of: [i64; 6]| (variant("x/work", &[("size", size)]), costs(ORDER.map(|round| of[round])));
    let alone =
        |size: u64, cost: i64| (variant("x/alone", &[("size", size)]), costs(ORDER.map(|round| cost + round as i64)));
    vec![
        at(0, [100, 101, 102, 103, 104, 105]),
        at(64, [127, 130, 133, 138, 141, 144]),
        at(256, [140, 141, 142, 143, 144, 145]),
        at(1024, [690, 732, 694, 696, 698, 710]),
        alone(64, 30),
        alone(256, 60),
        alone(1024, 90),
    ]
}

#[test]
fn a_curve_has_its_points_and_their_parts_formed_round_by_round() {
    let page = data(&[run(swept(), 1_000_000_000)], &catalogue());
    let curves = page["runs"][0]["curves"].as_array().unwrap();
    let axes: Vec<&Value> = curves.iter().flat_map(|curve| [&curve["mechanism"], &curve["axis"]]).collect();
    assert_eq!(axes, ["x/work", "size", "x/alone", "size"]);
    let curve = &curves[0];
    assert_eq!([&curve["label"], &curve["unit"], &curve["control"]], ["x/work", "switch", "x/alone"]);
    let parts = |size: u64, control: f64, (indirect, low, high): (f64, f64, f64), resolved: bool| {
        json!({
            "control": control, "control_result": format!("x/alone size={size}"), "direct": 102.5,
            "indirect": indirect, "low": low, "high": high, "resolved": resolved,
        })
    };
    let point = |size: u64, (median, low, high): (f64, f64, f64), parts: Value| {
        let result = if size == 0 { "x/work".to_owned() } else { format!("x/work size={size}") };
        json!({ "x": size, "result": result, "median": median, "low": low, "high": high, "parts": parts })
    };
    let expected = json!([
        point(0, (102.5, 100.357_143, 104.642_857), Value::Null),
        // The interval holds 0.
        point(64, (135.5, 128.071_429, 142.928_571), parts(64, 32.5, (0.5, -2.642_857, 3.642_857), false)),
        // Below 0: the control is more expensive than the same work in a ring.
        point(256, (142.5, 140.357_143, 144.642_857), parts(256, 62.5, (-22.5, -24.642_857, -20.357_143), true)),
        // The difference of the medians would be 502. Of these, each is like the one before: 1.7
        // times as wide.
        point(1024, (697.0, 687.620_79, 742.819_701), parts(1024, 92.5, (500.0, 500.0, 529.285_714), true)),
    ]);
    assert_eq!(rounded(&curve["points"]), expected);
    assert_eq!(page["notes"], json!([]));
}

#[test]
fn the_page_has_the_curves_of_the_json() {
    let run = run(swept(), 1_000_000_000);
    let shown = serde_json::to_value(document(&Analysis::new(&run, &catalogue()))).unwrap();
    let page = data(std::slice::from_ref(&run), &catalogue());
    for part in ["curves", "matrices"] {
        assert_eq!(page["runs"][0][part], shown[part]);
    }
}

#[test]
fn pairs_of_cpus_are_cells_with_the_labels_of_their_rows() {
    let pair = |a: u32, b: u32, cost: i64| {
        (Variant { placement: Placement::on_pair(a, b), ..variant("x/pair", &[]) }, costs([cost; 6]))
    };
    let page = data(&[run(vec![pair(0, 0, 10), pair(1, 0, 20)], 1_000_000_000)], &catalogue());
    let cell = |(a, b): (u32, u32), result: &str, relation: &str, cost: f64| {
        json!({
            "a": a, "b": b, "result": result, "relation": relation, "verdict": "verified",
            "median": cost, "low": cost, "high": cost,
        })
    };
    let matrix = &page["runs"][0]["matrices"][0];
    let expected = json!([
        cell((0, 0), "x/pair pair:0-0", "same_cpu", 10.0),
        cell((0, 1), "x/pair pair:1-0", "same_socket", 20.0),
    ]);
    assert_eq!([&matrix["label"], &matrix["cpus"], &matrix["cells"]], [&json!("x/pair"), &json!([0, 1]), &expected]);
}

#[test]
fn memory_is_the_median_of_sums_and_drift_that_of_thirds() {
    let sizes = |resident: i64, kernel: i64| {
        let part = |name, bytes| samples(vec![bytes], 1, Some(name));
        vec![part("resident_bytes", resident), part("kernel_bytes", kernel), part("virtual_bytes", 4096)]
    };
    // The median of each part is 0.
    let starts = [(0, 90), (0, 0), (90, 0), (0, 90), (0, 0), (90, 0)].map(|(resident, kernel)| sizes(resident, kernel));
    let kept = Variant { experiment: "footprint".parse().unwrap(), ..variant("x/keep", &[]) };
    let rows = vec![(kept, starts.into()), (variant("x/work", &[]), costs([100, 300, 900, 900, 400, 500]))];
    let page = data(&[run(rows, 1_000_000_000)], &catalogue());
    let of = |label: &str| {
        let results = page["runs"][0]["results"].as_array().unwrap();
        let place = results.iter().position(|result| result["label"] == label).unwrap();
        (&results[place], &page["runs"][0]["details"][place])
    };
    let kept = of("x/keep footprint").0;
    let figures = [&kept["quantity"], &kept["median"], &kept["low"], &kept["high"]];
    assert_eq!(figures, [&json!("memory"), &json!(90.0), &json!(0.0), &json!(90.0)]);
    assert_eq!(of("x/work").1["drift"], json!(1.25));
}

#[test]
fn what_is_no_number_is_null() {
    let page = data(&[run(swept(), 0)], &catalogue());
    let point = &page["runs"][0]["curves"][0]["points"][1];
    assert_eq!([&point["x"], &point["median"], &point["parts"]["indirect"]], [&json!(64), &Value::Null, &Value::Null]);
    assert_eq!(point["parts"]["resolved"], false);
}

#[test]
fn curves_beyond_the_room_of_a_page_are_left_out_and_that_is_said() {
    let one = run(swept(), 1_000_000_000);
    // Room for the four points and the three of the control in the first run, and for the control's
    // in the second.
    let page = bounded(&[one.clone(), one.clone(), one], &catalogue(), 10);
    let detailed = |run: usize| {
        let curves = page["runs"][run]["curves"].as_array().unwrap();
        curves.iter().map(|curve| curve["mechanism"].as_str().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!([detailed(0), detailed(1), detailed(2)], [vec!["x/work", "x/alone"], vec!["x/alone"], vec![]]);
    let notes = page["notes"].to_string();
    assert!(notes.contains("2 of 3 runs are shown without some of their curves"), "{notes}");
}

#[test]
fn five_digits_are_kept() {
    let all = [1.234_567_8, 1_234_567.0, 0.0, -0.001_234_567, 99_999.6].map(short);
    assert_eq!(all, [1.2346, 1_234_600.0, 0.0, -0.001_234_6, 100_000.0]);
    assert!(short(f64::NAN).is_nan() && short(f64::MAX).is_finite());
}

#[test]
fn a_run_is_compared_with_the_nearest_before_it_that_has_a_row_of_it() {
    let of =
        |mechanism: &str| run(vec![(variant(mechanism, &[]), costs([100, 101, 102, 103, 104, 105]))], 1_000_000_000);
    let sides = |runs: &[Run]| -> Vec<(u64, u64, usize)> {
        let page = data(runs, &catalogue());
        let tables = page["tables"].as_array().unwrap();
        let number = |table: &Value, name: &str| table[name].as_u64().unwrap();
        let sides =
            |table: &Value| (number(table, "a"), number(table, "b"), table["comparisons"].as_array().unwrap().len());
        tables.iter().map(sides).filter(|(a, b, _)| a != b).collect()
    };
    assert_eq!(sides(&[of("x/work"), of("x/alone"), of("x/work")]), [(0, 2, 1), (0, 1, 0)]);
    assert_eq!(sides(&[of("x/work"), of("x/work"), of("x/work")]), [(1, 2, 1), (0, 1, 1)]);
}
