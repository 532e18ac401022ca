//! What the sentences of an answer say is worked out again from its JSON, of every kept run.

use serde_json::Value;
use std::path::PathBuf;
use switchcost_e2e::{Real, World, repository};

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

/// The runs that the pages rest on.
fn kept() -> Vec<PathBuf> {
    let folders = ["data/example", "data/example/answers"].map(|folder| repository().join(folder));
    let files = folders.iter().flat_map(|folder| std::fs::read_dir(folder).unwrap());
    let mut files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|end| end == "jsonl"));
    files.sort();
    assert!(files.len() >= 20, "{files:?}");
    files
}

/// A run as text of one line, with all rows or in short, and as JSON.
fn answer(real: &Real, file: &std::path::Path, whole: bool) -> (String, Value) {
    let file = file.display();
    let text = real.run(&format!("show {file}{}", if whole { " -v" } else { "" })).out;
    let json = real.run(&format!("export {file} --format json")).json();
    (text.split_whitespace().collect::<Vec<_>>().join(" "), json)
}

fn rows(json: &Value) -> &Vec<Value> {
    json["results"].as_array().unwrap()
}

/// The number behind these words.
fn after(text: &str, words: &str) -> Option<f64> {
    let rest = text.split_once(words)?.1;
    let digits: String = rest.chars().take_while(|c| c.is_ascii_digit() || ".,".contains(*c)).collect();
    digits.trim_end_matches(['.', ',']).replace(',', "").parse().ok()
}

/// A time such as `1.07 µs`, in ns.
fn time(words: &str) -> f64 {
    let (number, unit) = words.split_once(' ').unwrap_or_else(|| panic!("no time: {words}"));
    let factor = [("ns", 1.0), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)].into_iter().find(|(name, _)| *name == unit);
    number.replace(',', "").parse::<f64>().unwrap() * factor.unwrap_or_else(|| panic!("no unit: {words}")).1
}

/// Two numbers are one but for rounding to this many digits.
fn close(said: f64, is: f64, digits: i32) -> bool {
    (said - is).abs() <= is.abs() * 0.51 * 10_f64.powi(1 - digits)
}

#[test]
fn counts_in_sentences_are_those_of_the_rows() {
    let Some(real) = Real::new(FAKE) else { return };
    let (mut passed, mut wide) = (0, 0);
    for file in kept() {
        let (text, json) = answer(&real, &file, true);
        let name = file.display();
        let lines = std::fs::read_to_string(&file).unwrap();
        let starts: Vec<&str> = lines.lines().filter(|line| line.starts_with("{\"t\":\"invocation\"")).collect();
        let disturbed = starts.iter().filter(|line| !line.contains("\"disturbances\":[]")).count();
        let run = text.split_once(" UTC, ").unwrap_or_else(|| panic!("{name}: {text}")).1;
        assert_eq!(after(run, ""), Some(starts.len() as f64), "{name}: {text}");
        let said = run.split_once("process runs (").and_then(|(_, rest)| rest.split_once(" disturbed)"));
        assert_eq!(said.map_or(0, |(count, _)| count.parse().unwrap()), disturbed, "{name}: {text}");
        let count = |fits: &dyn Fn(&Value) -> bool| rows(&json).iter().filter(|row| fits(row)).count() as f64;
        if let Some((head, _)) = text.split_once(" rows passed their checks") {
            passed += 1;
            let mut words = head.rsplit(' ');
            let all: f64 = words.next().unwrap().parse().unwrap();
            let said = if words.next() == Some("of") { words.next().unwrap().parse().unwrap() } else { all };
            assert_eq!(said, count(&|row| row["verdict"] == "verified"), "{name}: {text}");
            assert_eq!(all, count(&|_| true), "{name}: {text}");
        }
        if let Some((head, rest)) = text.split_once(" intervals exceed ±") {
            wide += 1;
            let all = head.rsplit(' ').next().unwrap().parse::<f64>().unwrap();
            let said = head.strip_suffix(&format!(" of {all}")).and_then(|head| head.rsplit(' ').next());
            let said = said.unwrap_or_else(|| panic!("{name}: {text}")).parse::<f64>().unwrap();
            let bound = after(rest, "").unwrap() / 100.0;
            let width = |row: &Value| {
                let [low, high, median] = ["low", "high", "median"].map(|field| row[field].as_f64());
                Some((high? - low?) / 2.0 / median?).filter(|_| row["modes"] == Value::Array(Vec::new()))
            };
            assert_eq!(all, count(&|row| width(row).is_some()), "{name}: {text}");
            assert_eq!(said, count(&|row| width(row).is_some_and(|width| width > bound)), "{name}: {text}");
        }
    }
    assert!(passed >= 8 && wide >= 5, "{passed} {wide}");
}

#[test]
fn figures_in_headlines_are_those_of_the_rows() {
    let Some(real) = Real::new(FAKE) else { return };
    let (mut prices, mut families) = (0, 0);
    for file in kept() {
        let (text, json) = answer(&real, &file, false);
        let name = file.display();
        let figure = |label: &str| {
            let named = |row: &&Value| row["label"].as_str().is_some_and(|found| found == label);
            let row = rows(&json).iter().find(named).unwrap_or_else(|| panic!("{name}: no row {label}"));
            row["median"].as_f64().unwrap_or_else(|| panic!("{name}: no figure of {label}"))
        };
        if let Some((head, rest)) = text.split_once(" switch costs ") {
            prices += 1;
            let whole = figure(head.rsplit(' ').next().unwrap());
            let (cost, others) = rest.split_once(" here: as much as ").unwrap();
            assert!(close(time(cost), whole, 3), "{name}: {text}");
            let others = others.split_once(" switches.").unwrap().0;
            for other in others.split(", ").flat_map(|part| part.split(" or ")) {
                let (times, label) = other.split_once(' ').unwrap();
                assert!(close(times.replace(',', "").parse().unwrap(), whole / figure(label), 3), "{name}: {other}");
            }
        }
        if let Some((_, rest)) = text.split_once("One of each family, cheapest first: ") {
            families += 1;
            let mut least = 0.0;
            let list = rest.split_once(". ").unwrap_or((rest, "")).0;
            for one in list.split(';').next().unwrap().split(", ") {
                let (label, cost) = one.split_once(' ').unwrap();
                // One of two modes has no place in the order.
                let Some(cost) = Some(cost).filter(|cost| !cost.contains(" or ")).map(time) else { continue };
                assert!(close(cost, figure(label), 2) && cost >= least, "{name}: {one}");
                least = cost;
            }
        }
    }
    assert!(prices >= 1 && families >= 3, "{prices} {families}");
}

/// The commonest mode is the figure of its row.
#[test]
fn the_commonest_mode_stands_first() {
    let Some(real) = Real::new(FAKE) else { return };
    let mut bimodal = 0;
    for file in kept() {
        let (text, json) = answer(&real, &file, true);
        for row in rows(&json).iter().filter(|row| row["modes"].as_array().is_some_and(|modes| modes.len() > 1)) {
            let share = |mode: &Value| mode[1].as_f64().unwrap();
            let most = row["modes"].as_array().unwrap().iter().map(share).fold(0.0, f64::max);
            let words = format!("{:.0} % or ", most * 100.0);
            bimodal += 1;
            assert!(text.contains(&words), "{}: {} {words}: {text}", file.display(), row["label"]);
        }
    }
    assert!(bimodal >= 5, "{bimodal}");
}

/// Facts that rules ask for by name: the rate of the counter, and the clock that the CPU kept.
const ASKED: [&str; 3] = ["clock.tsc_mhz_measured", "frequency_mhz_declared", "frequency_mhz_measured"];

/// A fact that no rule asks for and no comparison names is recorded for nobody.
#[test]
fn each_recorded_fact_is_of_use() {
    let machine: Value = World::new(FAKE).run("doctor --format json").json()["machine"].clone();
    let facts = |kind: &str| -> std::collections::BTreeMap<String, String> {
        serde_json::from_value(machine[kind].clone()).unwrap()
    };
    let all = switchcost_model::Machine {
        stable: facts("stable"),
        drifting: facts("drifting"),
        personal: facts("personal"),
        findings: Vec::new(),
    };
    assert!(all.stable.len() > 40 && all.drifting.len() > 15, "{machine}");
    let names = all.stable.keys().chain(all.drifting.keys());
    for name in names.filter(|name| !ASKED.contains(&name.as_str())) {
        let with = |value: &str| {
            let mut one = all.clone();
            for facts in [&mut one.stable, &mut one.drifting] {
                facts.entry(name.clone()).and_modify(|fact| value.clone_into(fact));
            }
            one
        };
        let (a, b) = match name.as_str() {
            "process.limits" => (with("stack size 8388608"), with("stack size 65536")),
            "container" => (with("none seen"), with("docker")),
            _ => (with("1"), with("2")),
        };
        assert!(!switchcost_model::differences(&a, &b).is_empty(), "nothing is made of {name}");
    }
}
