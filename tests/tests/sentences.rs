//! What the sentences of an answer say is worked out again from its JSON, of every kept run.

use serde_json::Value;
use std::path::PathBuf;
use switchcost_analysis::Analysis;
use switchcost_catalogue::Catalogue;
use switchcost_e2e::{Real, World, repository};
use switchcost_model::{Explanation as Layers, Mechanism, Wanted};
use switchcost_report::{Explanation, Style, explain_json, explain_text, figure_of};

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

/// Runs, or rows of them, that are compared, as their command has them.
fn questions() -> Vec<Vec<String>> {
    let data = repository().join("data/example");
    let file = |name: &str| data.join(name).display().to_string();
    let of_ladder = |row: &str| format!("{}:{row}", file("ladder.jsonl"));
    vec![
        vec![file("answers/goroutine-1.jsonl"), file("answers/goroutine-2.jsonl")],
        vec![file("answers/ring.jsonl"), file("answers/condvar.jsonl")],
        vec![file("ladder.jsonl"), file("answers/isolation.jsonl")],
        vec![of_ladder("thread/futex"), "thread/*".into(), "process/*".into()],
        vec![of_ladder("stack/asm"), "stack/*".into(), "fiber/*".into()],
        vec![of_ladder("thread/pipe"), of_ladder("process/pipe")],
    ]
}

#[test]
fn sentences_of_compare_are_those_of_its_rows() {
    let Some(real) = Real::new(FAKE) else { return };
    let (mut few, mut lost, mut floors, mut detected) = (0, 0, 0, 0);
    for question in questions() {
        let said = |form: &str| real.run_line(&format!("compare --format {form} '{}'", question.join("' '")));
        let (text, json) = (said("md").words(), said("json").json());
        let all = json["comparisons"].as_array().unwrap();
        let number = |row: &Value, field: &str| row[field].as_f64();
        let count = |fits: &dyn Fn(&Value) -> bool| all.iter().filter(|row| fits(row)).count() as f64;
        let few_of = ["starts", "rounds with both"].map(|what| format!("Too few {what} for a verdict"));
        if let Some((_, rest)) = few_of.iter().find_map(|words| text.split_once(words)) {
            few += 1;
            let lacking = count(&|row| ["few_starts", "few_rounds"].iter().any(|code| row["why"] == *code));
            let of = rest.split_once(':').unwrap().0;
            let told = if of.is_empty() { all.len() as f64 } else { after(of, " in ").unwrap() };
            assert_eq!(told, lacking, "{text}");
            assert!(of.is_empty() || of.ends_with(&format!(" of {} rows", all.len())), "{text}");
        }
        let skipped = json["skipped"].as_array().unwrap().len();
        let sides = json["unmatched"].as_array().unwrap();
        let unmatched: usize = sides.iter().map(|side| side["labels"].as_array().unwrap().len()).sum();
        let not_compared = skipped + unmatched;
        assert_eq!(text.contains(&format!("· {not_compared} not compared")), not_compared > 0, "{text}");
        lost += not_compared;
        if let Some(together) = after(&text, "corrected for ") {
            assert_eq!(together, all.len() as f64, "{text}");
        }
        if let Some((_, rest)) = text.split_once("noise floor: ") {
            floors += 1;
            let judged = all.iter().filter(|row| !row["low"].is_null() && row["a"]["quantity"] == "time");
            let ends: Vec<f64> = judged.map(|row| number(row, "noise_floor").unwrap()).collect();
            let (least, most) = ends.iter().fold((f64::INFINITY, 0.0_f64), |(a, b), one| (a.min(*one), b.max(*one)));
            assert!(close(after(rest, "").unwrap() / 100.0, least, 2), "{least} {text}");
            let highest = rest.split_once(" to ").map_or(least, |(_, rest)| after(rest, "").unwrap() / 100.0);
            assert!(close(highest, most, 2), "{most} {text}");
        }
        // Each row: what it is, and what it would have detected.
        for row in all {
            for side in ["a", "b"] {
                let share = |mode: &Value| mode[1].as_f64().unwrap();
                let modes = row[side]["modes"].as_array().unwrap();
                let most = modes.iter().map(share).fold(0.0, f64::max);
                let words = format!(" ({:.0} %) or ", most * 100.0);
                assert!(modes.is_empty() || text.contains(&words), "{words} {row} {text}");
            }
            let Some(seen) = number(row, "smallest_detectable").filter(|seen| *seen > 0.0) else { continue };
            detected += 1;
            let words = switchcost_model::Value::Percent(seen).to_string();
            let words = if seen > 1.0 { "> 100 %" } else { &words };
            let label = row["b"]["label"].as_str().unwrap();
            let line = text.split("| ").any(|cell| cell.trim() == words);
            assert!(line && text.contains(label), "{label} {words}: {text}");
            let moved = ["slower", "faster"].iter().any(|verdict| row["verdict"] == *verdict);
            if let Some(ratio) = number(row, "ratio").filter(|_| moved) {
                assert_eq!(ratio > 1.0, row["verdict"] == "slower", "{row}");
                assert!(text.contains(row["phrase"].as_str().unwrap()), "{row} {text}");
            }
        }
    }
    assert!(few >= 1 && lost >= 20 && floors >= 5 && detected >= 15, "{few} {lost} {floors} {detected}");
}

/// Every explanation that a kept run holds all rows of, as text of one line and as JSON.
fn explained(file: &std::path::Path, catalogue: &Catalogue) -> Vec<(String, Value)> {
    let read = std::fs::File::open(file).unwrap();
    let run = switchcost_store::import_jsonl(&mut std::io::BufReader::new(read)).unwrap().run;
    let analysis = Analysis::new(&run, catalogue);
    let all = catalogue.mechanisms.iter().flat_map(|page| page.explanations.iter().map(move |one| (page, one)));
    let said = |(page, layers): (&Mechanism, &Layers)| {
        let terms = layers.layers.iter().flat_map(|layer| layer.terms.iter().map(|term| &term.wanted));
        let place = |wanted: &Wanted| {
            let of = catalogue.find(&wanted.mechanism)?;
            run.variants.iter().position(|variant| wanted.fits(variant, of)).and_then(|at| analysis.rows.get(at))
        };
        let rows = std::iter::once(&layers.total).chain(terms).map(place).collect::<Option<Vec<_>>>()?;
        let rows: Vec<_> = rows.into_iter().map(Some).collect();
        let explained = switchcost_analysis::explain(layers, &rows).ok()?;
        let answer = Explanation {
            label: layers.total.to_string(),
            title: page.title.clone(),
            run: run.id.clone(),
            figure: rows[0].map(figure_of).unwrap(),
            explained,
            notes: Vec::new(),
        };
        let text = explain_text(&answer, false, Style::PLAIN);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        Some((text, serde_json::from_str(&explain_json(&answer)).unwrap()))
    };
    all.filter_map(said).collect()
}

#[test]
fn sentences_of_explain_are_those_of_its_layers() {
    let catalogue = switchcost_catalogue::load(&repository().join("mechanisms"), &[], &|_| Ok(())).unwrap();
    let (mut shares, mut predicted) = (0, 0);
    for (text, json) in kept().iter().flat_map(|file| explained(file, &catalogue)) {
        let total = json["total"]["ns"].as_f64().unwrap();
        let layers = json["layers"].as_array().unwrap();
        let cost = |part: &Value| part["ns"].as_f64();
        let sum: f64 = layers.iter().filter_map(|layer| cost(&layer["cost"])).sum();
        let rest = cost(&json["residue"]).unwrap();
        assert!((sum + rest - total).abs() < 1e-6 * total, "{json}");
        if let Some(ratio) = json["predicted_per_measured"]["ratio"].as_f64() {
            predicted += 1;
            let (low, high) = ["low", "high"].map(|end| json["predicted_per_measured"][end].as_f64()).into();
            assert!((ratio - sum / total).abs() < 1e-6, "{json}");
            assert!((after(&text, "Predicted ÷ measured is ").unwrap() - ratio).abs() < 0.0006, "{text}");
            let inside = |end: Option<f64>| end.is_some_and(|end| (0.95..=1.05).contains(&end));
            let moved = json["limits"].as_array().unwrap().iter().flat_map(|row| row["conditions"].as_array().unwrap());
            let moved = moved.map(|one| &one["condition"]).any(|one| *one == "disturbed" || *one == "slowed");
            let sure = match (inside(low), inside(high)) {
                _ if moved => "inconclusive (",
                (true, true) => "yes.",
                _ if low.is_some_and(|low| low > 1.05) || high.is_some_and(|high| high < 0.95) => "no.",
                _ => "inconclusive.",
            };
            assert!(text.contains(&format!("adds up within ±5 %: {sure}")), "{sure} {json} {text}");
            // What the layers exceed has no shares, and adds up to no rest.
            let exceed = text.contains("shares are not given");
            assert!(!exceed || !text.contains("is left"), "{text}");
            if let Some(come_to) = after(&text, "its layers come to ").filter(|_| exceed) {
                assert!(close(come_to / 100.0, ratio, 2), "{text}");
            }
        }
        let (head, _) = text.split_once(" ns 95 % interval").unwrap();
        for layer in layers {
            let Some(share) = layer["cost"]["share"].as_f64() else { continue };
            shares += 1;
            assert!((share - cost(&layer["cost"]).unwrap() / total).abs() < 1e-6, "{layer}");
            let name = layer["name"].as_str().unwrap();
            let (before, _) = head.split_once(&format!(" % {name}")).unwrap_or_else(|| panic!("{name}: {text}"));
            let said = before.rsplit(' ').next().unwrap();
            // A wide one is a range.
            let ends: Vec<f64> = said.split('–').map(|end| end.parse().unwrap()).collect();
            let (low, high) = (ends[0] / 100.0, ends[ends.len() - 1] / 100.0);
            assert!(if ends.len() > 1 { low < share && share < high } else { close(low, share, 2) }, "{said} {layer}");
        }
    }
    assert!(shares >= 3 && predicted >= 3, "{shares} {predicted}");
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
