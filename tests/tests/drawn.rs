//! Answers about this machine or a program that runs, made of kept runs and of figures that stand
//! here: what a live command says differs from time to time.

use std::fs::File;
use std::io::BufReader;
use std::time::Duration;
use switchcost_analysis::{Analysis, Explained, LayerCost, Part, Prediction, Row, Times, verdicts};
use switchcost_audit::{Audited, Estimate, Price, audit, audit_text, load_audit};
use switchcost_catalogue::Catalogue;
use switchcost_e2e::repository;
use switchcost_machine::program::{Observed, ThreadSeen};
use switchcost_model::Run;
use switchcost_report::{AskedBy, Compared, Explanation, Style, explain_text, findings_text};
use switchcost_stats::Interval;

/// Name of the file, and who draws it.
type Answer = (&'static str, fn(Style) -> String);

/// Every such answer.
pub const ANSWERS: &[Answer] = &[
    ("doctor", |style| findings_text(&run("ladder").machine.findings, false, style)),
    ("doctor-verbose", |style| findings_text(&run("ladder").machine.findings, true, style)),
    ("explain", explained),
    ("audit", |style| audit_text(&audited(), false, style)),
    ("audit-verbose", |style| audit_text(&audited(), true, style)),
    ("compare-names", names),
];

fn catalogue() -> Catalogue {
    switchcost_catalogue::load(&repository().join("mechanisms"), &[], &|_| Ok(())).unwrap()
}

fn run(name: &str) -> Run {
    let file = File::open(repository().join(format!("data/example/{name}.jsonl"))).unwrap();
    switchcost_store::import_jsonl(&mut BufReader::new(file)).unwrap().run
}

/// Layers of a switch as its page has them, with figures near those of a machine.
fn explained(style: Style) -> String {
    let part = |value: f64, half: f64| Part {
        value,
        interval: Some(Interval { low: value - half, high: value + half }),
        share: Some(Times {
            ratio: value / 1072.0,
            interval: Some(((value - half) / 1072.0, (value + half) / 1072.0)),
        }),
        rounds: 24,
    };
    let catalogue = catalogue();
    let mechanism = catalogue.mechanisms.iter().find(|one| one.id.as_str() == "thread/futex").unwrap();
    let page = &mechanism.explanations[0];
    let costs = [Ok(part(86.4, 3.2)), Ok(part(4.1, 9.8)), Ok(part(661.2, 21.5))];
    let layers = page.layers.iter().zip(costs).map(|(layer, cost)| LayerCost {
        name: layer.name.clone(),
        why: layer.why.clone(),
        terms: layer.terms.iter().map(|term| term.wanted.to_string()).collect::<Vec<_>>().join(" + "),
        cost,
    });
    let answer = Explanation {
        label: page.total.to_string(),
        title: mechanism.title.clone(),
        run: "20261125T160157-1c0e".to_owned(),
        figure: "1.07 µs".to_owned(),
        explained: Explained {
            total: part(1072.0, 18.0),
            modes: false,
            layers: layers.collect(),
            residue: part(320.3, 25.1),
            prediction: Some(Prediction { ratio: 0.70, interval: Some(Interval { low: 0.67, high: 0.73 }) }),
            floor_only: false,
            residue_is: page.residue.clone(),
            limits: Vec::new(),
        },
        notes: vec!["other rows with layers: `thread/futex two_cpus`".to_owned()],
    };
    explain_text(&answer, false, style)
}

/// A server of seven threads.
fn audited() -> Audited {
    const HOUR: i64 = 3_600_000_000_000;
    let thread = |number: u32, name: &str, (voluntary, involuntary): (u64, u64), channel: &str| ThreadSeen {
        process: 4711,
        thread: 4711 + number,
        name: name.to_owned(),
        program: String::new(),
        voluntary,
        involuntary,
        cpu_ns: Some((voluntary + involuntary) * 9_000),
        cpus: [(number % 2, 40)].into(),
        channels: [(channel.to_owned(), 40)].into(),
        ended: number == 6,
    };
    let threads = vec![
        thread(0, "memcached", (310, 2), "ep_poll"),
        thread(1, "mc-worker-with-a-long-name", (184_120, 311), "ep_poll"),
        thread(2, "mc-worker", (181_004, 290), "ep_poll"),
        thread(3, "mc-worker", (179_555, 301), "futex_wait_queue"),
        thread(4, "mc-worker", (12, 9_411), "pipe_read"),
        thread(5, "mc-lru", (1_204, 0), "hrtimer_nanosleep"),
        thread(6, "mc-slab", (3, 1), "futex_wait_queue"),
    ];
    let observed = Observed {
        program: "memcached".to_owned(),
        process: 4711,
        wall: Duration::from_secs(10),
        threads,
        wake_interrupts: Some(90_000),
        group_cpu_ns: Some(6_900_000_000),
        samples: 66,
        own_cpu_ns: 17_000_000,
        ..Observed::default()
    };
    let data = load_audit(&repository().join("data/audit.toml"), &catalogue()).unwrap();
    let prices: Vec<Price> = data
        .rules
        .into_iter()
        .zip([1_040.0, 980.0, 4_310.0, 5_020.0, 3_990.0, 610.0, 590.0].into_iter().cycle())
        .map(|(rule, ns)| Price {
            rule,
            cpu: Estimate { value: ns, low: ns * 0.93, high: ns * 1.08 },
            each_ns: ns,
            points: Vec::new(),
            delay_ns: Some(ns * 4.0),
            disturbed: true,
            run: "20261125T160157-1c0e".to_owned(),
            measured_unix_ns: 0,
        })
        .collect();
    Audited {
        audit: audit(&observed, &prices),
        observed,
        prices,
        indirect: None,
        indirect_command: "switchcost sweep working-set thread/futex".to_owned(),
        notes: Vec::new(),
        command_status: None,
        command_exit: None,
        service: None,
        all_threads: false,
        now_unix_ns: 2 * HOUR,
    }
}

/// Three ways to isolate, by switch, creation and memory.
fn names(style: Style) -> String {
    const SWITCHES: [(&str, usize); 3] = [("thread/futex", 17), ("process/pipe", 21), ("container/futex", 23)];
    const MADE: [[usize; 3]; 2] = [[0, 2, 4], [1, 3, 5]];
    let (catalogue, runs) = (catalogue(), [run("ladder"), run("answers/isolation-make")]);
    let analyses: Vec<Analysis<'_>> = runs.iter().map(|run| Analysis::new(run, &catalogue)).collect();
    let row =
        |of: usize, index: usize| -> &Row<'_> { analyses[of].rows.iter().find(|row| row.index == index).unwrap() };
    let mut pairs = Vec::new();
    let mut asked = Vec::new();
    for (place, (name, index)) in SWITCHES.iter().enumerate().skip(1) {
        let (first, reference) = SWITCHES[0];
        pairs.push(((0, row(0, reference)), (0, row(0, *index))));
        pairs.extend(MADE.map(|of| ((1, row(1, of[0])), (1, row(1, of[place])))));
        let by = AskedBy { a: first.to_owned(), b: (*name).to_owned(), beside: String::new() };
        asked.extend([(); 3].map(|()| Some(by.clone())));
    }
    let found = verdicts(&pairs, &analyses, 0.03).unwrap_or_else(|_| panic!("kept rows can be compared"));
    let mut compared = Compared { threshold: 0.03, ..Compared::default() };
    compared.add(found, &pairs, &analyses, false);
    for (row, asked) in compared.rows.iter_mut().zip(asked) {
        row.asked = asked;
    }
    compared.answer().terminal(style)
}
