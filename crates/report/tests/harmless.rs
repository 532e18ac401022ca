//! Whatever a run file, a probe or a program says: no text output begins a line with it, moves a
//! cursor, or turns the direction of writing.

use proptest::prelude::*;
use std::collections::BTreeMap;
use switchcost_analysis::{
    Analysis, At, Burden, Comparison, Condition, Fit, Grown, Load, Outcome, Quantity, Side, Why,
};
use switchcost_catalogue::{Catalogue, Published};
use switchcost_model::*;
use switchcost_report::*;

/// Hostile text: each piece of the alphabet does something on a terminal, and what follows a line
/// feed pretends to be a row.
fn text() -> BoxedStrategy<String> {
    const PIECES: &[&str] = &[
        "a",
        "|",
        "\"",
        ",",
        " ",
        "\nFORGED",
        "\rFORGED",
        "\u{85}FORGED",
        "\u{2028}FORGED",
        "\x1b[2J",
        "\x1b]0;t\x07",
        "\x1b[8m",
        "\u{9b}31m",
        "\u{202e}",
        "\u{2066}",
        "\u{200f}",
        "\0",
        "\u{7f}",
        "\t",
    ];
    let pieces = proptest::collection::vec(proptest::sample::select(PIECES), 0..6).prop_map(|pieces| pieces.concat());
    prop_oneof![4 => pieces, 1 => any::<String>(), 1 => Just("\x1b[1m\u{202e}y".repeat(300))]
        .prop_map(|text| format!("x{text}"))
        .boxed()
}

/// Texts in turn, so that each field has one of its own.
struct Texts<'a>(std::iter::Cycle<std::slice::Iter<'a, String>>);

impl Texts<'_> {
    fn next(&mut self) -> String {
        self.0.next().unwrap().clone()
    }
}

fn transcript(texts: &mut Texts<'_>, ticks: i64) -> Transcript {
    let clock = Clock { name: texts.next(), ticks_per_second: 1_000_000_000, read_cost_ticks: 20 };
    let hello = Hello {
        protocol: 1,
        probe: texts.next(),
        version: texts.next(),
        runtime: texts.next(),
        compiler: Some(texts.next()),
        flags: Some(texts.next()),
        pid: 1,
        clock,
        counter: None,
        chain_cycles: None,
    };
    let samples =
        Samples { phase: Phase::Measure, units: 100, ticks: vec![ticks; 20], quantity: None, rulers: BTreeMap::new() };
    let evidence = Evidence {
        units: 2000,
        counts: BTreeMap::from([(texts.next(), 1)]),
        why: BTreeMap::from([(texts.next(), texts.next())]),
        ..Evidence::default()
    };
    let end = End {
        status: EndStatus::Failed,
        code: Some(texts.next()),
        detail: Some(texts.next()),
        errno: None,
        samples: 20,
    };
    Transcript {
        hello: Some(hello),
        samples: vec![samples],
        evidence: Some(evidence),
        notes: vec![texts.next()],
        end: Some(end),
        fault: Some(Fault { line: 1, broken: Broken::Unread { message: texts.next(), cause: texts.next() } }),
        ..Transcript::default()
    }
}

fn run(texts: &[String]) -> Run {
    let mut texts = Texts(texts.iter().cycle());
    let variant = |mechanism: &str, texts: &mut Texts<'_>| Variant {
        mechanism: mechanism.parse().unwrap(),
        probe: texts.next(),
        experiment: Experiment::usual(),
        contexts: 2,
        placement: Placement::usual(),
        timing: Timing::Batch,
        parameters: BTreeMap::from([(texts.next(), texts.next())]),
        label: texts.next(),
    };
    let verdicts = [Verdict::Verified, Verdict::Contradicted, Verdict::Unobservable, Verdict::Broken];
    let variants = ["thread/a", "thread/b", "thread/c", "thread/d", "thread/e"].map(|name| variant(name, &mut texts));
    let invocations = (0..32_u64).map(|sequence| Invocation {
        variant: (sequence % 4) as usize,
        round: sequence / 4,
        sequence,
        started_unix_ns: 0,
        wall_ns: 1,
        cpus: vec![0],
        environment_padding: 0,
        peak_rss_bytes: 0,
        process: ProcessEnd::Exited(0),
        transcript: transcript(&mut texts, 1000 + sequence as i64),
        seen: Some(Seen {
            tree: Some(Tree {
                namespaces: [(texts.next(), 1)].into(),
                facts: Some(TaskFacts {
                    classes: [(texts.next(), 1)].into(),
                    files: Some([(texts.next(), 1)].into()),
                    ..TaskFacts::default()
                }),
                ..Tree::default()
            }),
            part: PartSeen {
                scheduled: Some(Scheduled {
                    classes: [texts.next()].into(),
                    channels: [texts.next()].into(),
                    refused: Some(Obstacle::NotInstalled { program: texts.next() }),
                    tail: Some(Tail {
                        held: [(texts.next(), 1)].into(),
                        late: vec![LateWake {
                            idle: Some(texts.next()),
                            held: [(texts.next(), 1)].into(),
                            ..LateWake::default()
                        }],
                        unknown: Some(Obstacle::TraceRefused { cause: texts.next() }),
                        ..Tail::default()
                    }),
                    limit: Some(LateLimit {
                        latest_ns: 1,
                        traced: Some(TracedWake {
                            wake: LateWake { held: [(texts.next(), 1)].into(), waited_ns: 1, ..LateWake::default() },
                            events: vec![TracedEvent { what: texts.next(), ..TracedEvent::default() }],
                            ..TracedWake::default()
                        }),
                        ..LateLimit::default()
                    }),
                    ..Scheduled::default()
                }),
                executed: Some(Executed {
                    by: texts.next(),
                    functions: [(texts.next(), 1)].into(),
                    callers: [(texts.next(), 1)].into(),
                    refused: Some(Obstacle::PartUnread { text: texts.next() }),
                    ..Executed::default()
                }),
                ..PartSeen::default()
            },
            ..Seen::default()
        }),
        judgement: Judgement::new(verdicts[(sequence % 4) as usize], Reason::Unsupported { detail: texts.next() }),
        disturbances: vec![
            Disturbance::Throttled(Throttle::Heat { file: texts.next(), cpu: 0, times: 1 }),
            Disturbance::Frequency { file: texts.next(), cpu: 0, before: texts.next(), after: texts.next() },
        ],
        log: texts.next(),
    });
    let invocations = invocations.collect();
    let known = finding!(Severity::Warning, clock_source.slow, source = texts.next(), read = texts.next());
    let foreign = Finding {
        id: texts.next(),
        case: texts.next(),
        severity: Severity::Warning,
        facts: [(texts.next(), texts.next())].into(),
    };
    let facts = ["cpu.model_name", "kernel.release", "hypervisor", "kernel.architecture"];
    Run {
        id: texts.next(),
        started_unix_ns: 0,
        ended_unix_ns: None,
        seed: 1,
        ended_by: EndedBy::Unfinished,
        tool_version: texts.next(),
        method_version: 1,
        command: vec![texts.next(), "sweep".into(), "--store".into(), texts.next()],
        request: switchcost_model::Request::default(),
        precision_ppm: 1000,
        budget_ms: 1000,
        machine: Machine {
            stable: facts.iter().map(|name| ((*name).to_owned(), texts.next())).collect(),
            findings: vec![known, foreign],
            ..Machine::default()
        },
        variants: variants.to_vec(),
        not_run: BTreeMap::from([(4, Reason::Unsupported { detail: texts.next() })]),
        invocations,
    }
}

/// Sentences and names of the commands that do not show a run.
fn others(texts: &[String], style: Style) -> Vec<String> {
    let mut texts = Texts(texts.iter().cycle());
    let texts = &mut texts;
    let side = |texts: &mut Texts<'_>| RowFigures {
        run: texts.next(),
        label: texts.next(),
        experiment: Experiment::usual(),
        median: Some(10.0),
        interval: None,
        modes: Vec::new(),
        unit: texts.next(),
        quantity: Quantity::TIME,
        conditions: vec![Condition::Slowed],
    };
    let comparison = Comparison {
        modes: None,
        ratio: 1.1,
        interval: None,
        more_is_better: false,
        confidence: 0.95,
        paired: false,
        counts: (8, 8),
        component: 0.0,
        of: switchcost_analysis::Of::Medians,
        floor: 0.01,
        detectable: None,
        outcome: Outcome::CannotTell,
        why: Some(Why::Unsettled { side: Side::B, reason: texts.next() }),
    };
    let published = Published {
        name: texts.next(),
        what: texts.next(),
        mechanism: None,
        low: 1.0,
        high: None,
        upper_bound: false,
        taken_off: None,
        unit: texts.next(),
        machine: texts.next(),
        year: None,
        source: texts.next(),
        read: true,
        caveat: Some(texts.next()),
    };
    let burden = Burden {
        mechanism: texts.next(),
        fit: Fit::Fits,
        cpu: Some(0.1),
        interval: None,
        memory: Some(1.0),
        conditions: Vec::new(),
    };
    let compared = Compared {
        runs: vec![ComparedRun { id: texts.next(), started: String::new(), machine: texts.next() }],
        rows: vec![ComparedRow {
            a: side(texts),
            b: side(texts),
            asked: Some(AskedBy { a: texts.next(), b: texts.next(), beside: texts.next() }),
            comparison,
            grown: vec![Grown { function: texts.next(), a: 1.0, b: 2.0 }],
        }],
        skipped: vec![(texts.next(), texts.next())],
        references: vec![side(texts)],
        published: vec![published],
        notes: vec![texts.next()],
        loaded: Some(Loaded {
            load: Load { rate: 1.0, contexts: 2, cpu: 0.1 },
            burdens: vec![burden],
            unknown: vec![texts.next()],
        }),
        ..Compared::default()
    };
    let point = |texts: &mut Texts<'_>| TrendPoint {
        run: texts.next(),
        started_unix_ns: 0,
        median: Some(1.0),
        modes: Vec::new(),
        interval: None,
        invocations: 8,
        kernel: texts.next(),
        software: texts.next(),
        changed: vec![texts.next()],
        slowed: Some(1.4),
        reason: Some(texts.next()),
    };
    let change = TrendChange {
        before: texts.next(),
        after: texts.next(),
        ratio: 2.0,
        interval: None,
        p: 0.01,
        changed_with_it: vec![texts.next()],
    };
    let trend = Trend {
        machine: "0".into(),
        undecided: 1,
        autocorrelation: Some(0.5),
        label: texts.next(),
        unit: texts.next(),
        quantity: Quantity::TIME,
        points: vec![point(texts), point(texts)],
        changes: vec![change],
    };
    let machine = TrendMachine { key: "0".into(), name: texts.next() };
    let trends = Trends {
        method_version: 1,
        at: At::Median,
        machines: vec![machine],
        trends: vec![trend],
        notes: vec![texts.next()],
    };
    let entry = HistoryEntry {
        id: texts.next(),
        started_unix_ns: 0,
        ended_by: texts.next(),
        partial: false,
        imported: true,
        rows: 1,
        invocations: 1,
        machine: "0".into(),
        software: "0".into(),
        kernel: texts.next(),
        command: texts.next(),
    };
    let listed = |available| ListedProbe {
        id: texts.next(),
        runtime: Some(texts.next()),
        available,
        reason: Some(texts.next()),
        install: Some(texts.next()),
    };
    let probes = [true, false].map(listed);
    let mechanisms = probes.map(|probe| ListedMechanism {
        id: texts.next(),
        family: "f".into(),
        title: texts.next(),
        short: texts.next(),
        tags: vec![texts.next()],
        control: false,
        experiments: Vec::new(),
        placements: Vec::new(),
        parameters: Vec::new(),
        probes: vec![probe],
    });
    let known = finding!(Severity::Note, clock_source.slow, source = texts.next(), read = texts.next());
    let foreign = Finding {
        id: texts.next(),
        case: texts.next(),
        severity: Severity::Note,
        facts: [(texts.next(), texts.next())].into(),
    };
    let baseline = BaselineEntry { name: texts.next(), run: texts.next(), set_unix_ns: 0, gone: false };
    let title = texts.next();
    vec![
        compared.answer().terminal(style),
        compared.answer().markdown(),
        trends_text(&trends, true, style),
        trends_text(&trends, false, style),
        history_text(&[entry], 1, style),
        list_text(&mechanisms, &[("f".into(), title.clone())], &[texts.next()], style),
        list_one(&mechanisms[0], true, style),
        list_one(&mechanisms[0], false, style),
        list_overview(&mechanisms, &[("f".into(), title)], &[texts.next()], style),
        findings_text(&[known, foreign], true, style),
        baselines_text(&[baseline], style),
    ]
}

fn harmless(out: &str, style: Style) -> Result<(), TestCaseError> {
    prop_assert_eq!(out, &harmless_lines(out, style.colour), "something in it acts on a terminal");
    // Where text is wrapped, its further lines are further in than ours.
    let forged = out.lines().find(|line| !line.starts_with("    ") && line.trim_start().starts_with("FORGED"));
    prop_assert_eq!(forged, None, "a line of others in {}", out);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_output_passes_on_what_acts(texts in proptest::collection::vec(text(), 1..40)) {
        let run = run(&texts).harmless();
        let analysis = Analysis::new(&run, &Catalogue::default());
        for style in [Style::PLAIN, Style::PIPED, Style { colour: true, ..Style::PIPED }] {
            // A form that escapes what it must needs no run that is told.
            for form in FORMATS.iter().filter(|form| form.is_for_people()) {
                harmless(&form.write(&analysis, style).unwrap(), style)?;
            }
            for out in others(&texts, style) {
                harmless(&out, style)?;
            }
        }
    }
}

#[test]
fn a_long_text_is_cut_and_json_is_not() {
    let long = "long".repeat(1000);
    let mut run = run(&["x".to_owned()]);
    run.machine.stable.insert("cpu.model_name".into(), format!("\x1b{long}"));
    run.invocations.iter_mut().for_each(|invocation| invocation.transcript.notes = vec![format!("\u{202e}{long}")]);
    let written = |name: &str| {
        let form = FORMATS.iter().find(|form| form.name() == name).unwrap();
        let shown = form.is_for_people().then(|| run.harmless());
        let analysis = Analysis::new(shown.as_ref().unwrap_or(&run), &Catalogue::default());
        form.write(&analysis, Style::PLAIN).unwrap()
    };
    let (text, json) = (written("table"), written("json"));
    assert!(text.contains("lon…") && !text.contains(&long), "{text}");
    assert!(json.contains(&format!("\\u001b{long}")) && json.contains(&format!("\u{202e}{long}")), "{json}");
}
