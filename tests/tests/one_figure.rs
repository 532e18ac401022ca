//! A row has one figure: every view of every kept run gives the same one, to its last digit.

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use switchcost_e2e::{Real, World, mechanism, repository, two_kinds};

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

/// Of a row: median and the ends of its interval, as they are in JSON.
type Figure = (Value, Value, Value);

fn kept() -> Vec<PathBuf> {
    let folder = repository().join("data/example");
    let answers = std::fs::read_dir(folder.join("answers")).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = answers.chain([folder.join("ladder.jsonl")]).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    files.sort();
    files
}

/// Lines of a table, a name that goes on below in one piece again.
fn unfolded(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        let more = line.strip_prefix("    ").filter(|more| !more.starts_with(' ') && !more.contains("  "));
        match (more, lines.last_mut()) {
            (Some(more), Some(last)) if last.trim_start().contains("  ") => {
                let (name, rest) = last.trim_start().split_once("  ").unwrap();
                *last = format!(" {name} {}  {rest}", more.trim());
            }
            _ => lines.push(line.to_owned()),
        }
    }
    lines
}

/// Label → what JSON has of it.
fn rows(real: &Real, file: &Path) -> (String, BTreeMap<String, Value>) {
    let json = real.run(&format!("export {} --format json", file.display())).json();
    let results = json["results"].as_array().unwrap().iter();
    let rows = results.map(|row| (row["label"].as_str().unwrap().to_owned(), row.clone())).collect();
    (json["run"]["id"].as_str().unwrap().to_owned(), rows)
}

fn figure(row: &Value) -> Figure {
    (row["median"].clone(), row["low"].clone(), row["high"].clone())
}

/// What a person reads of a figure: three digits.
fn read(row: &Value) -> Option<String> {
    let median = row["median"].as_f64()?;
    (row["quantity"] == "time").then(|| switchcost_model::Quantity::TIME.amount(median))
}

#[test]
fn every_view_of_every_kept_run_gives_the_same_figure() {
    let Some(real) = Real::new(FAKE) else { return };
    let mut all: BTreeMap<(String, String), Figure> = BTreeMap::new();
    let mut seen = [0; 4];
    for file in kept() {
        let (id, rows) = rows(&real, &file);
        assert_eq!(real.run(&format!("import {}", file.display())).status, 0, "{}", file.display());
        let said = |command: &str| real.run(command).out;
        // People: the line of the row, in few columns and in all of them.
        let brief = said(&format!("show {}", file.display()));
        let columns = said(&format!("show {} -v", file.display()));
        for (label, row) in &rows {
            let Some(words) = read(row) else { continue };
            let plain = switchcost_model::number::nanoseconds(row["median"].as_f64().unwrap());
            let short = words.split(' ').next().unwrap();
            let lines = |text: &str| -> Vec<String> {
                let own = format!("{label} ");
                let of_row = |line: &&str| {
                    line.trim_start().starts_with(&own) && ![" < ", " ≈ ", " ~ "].iter().any(|sign| line.contains(sign))
                };
                unfolded(text).iter().map(String::as_str).filter(of_row).map(str::to_owned).collect()
            };
            if row["experiment"] == "switch" && !lines(&brief).is_empty() {
                assert!(
                    lines(&brief).iter().any(|line| line.contains(short)),
                    "{id} {label}: {words} is not in\n{brief}"
                );
                seen[0] += 1;
            }
            if !lines(&columns).is_empty() {
                let has = |line: &String| line.contains(short) || line.contains(&plain);
                assert!(lines(&columns).iter().any(has), "{id} {label}: {words} is not in\n{columns}");
                seen[1] += 1;
            }
        }
        // Programs: to the last digit that each prints.
        let table = said(&format!("export {} --format csv", file.display()));
        for (label, row) in &rows {
            if let Some(median) = row["median"].as_f64() {
                let cell = format!(",{median:.6},");
                assert!(table.contains(&cell), "{id} {label}: {cell} is not in the CSV");
            }
            all.insert((id.clone(), label.clone()), figure(row));
        }
        let mut comparable = rows.iter().filter(|(_, row)| row["median"].is_f64() && row["verdict"] == "verified");
        let of_kind = |a: &Value, b: &Value| ["experiment", "unit", "quantity"].iter().all(|key| a[key] == b[key]);
        if let Some((label, row)) = comparable.next() {
            if let Some((other, _)) = comparable.find(|(_, other)| of_kind(row, other)) {
                let line = format!("compare '{}:{label}' '{}:{other}' --format json", file.display(), file.display());
                let compared = real.run_line(&line).json();
                for side in compared["comparisons"].as_array().unwrap().iter().flat_map(|row| [&row["a"], &row["b"]]) {
                    let expected = &rows[side["label"].as_str().unwrap()];
                    assert_eq!(
                        (&side["median"], &side["interval"][0]),
                        (&expected["median"], &expected["low"]),
                        "{side}"
                    );
                    seen[2] += 1;
                }
            }
            let explained = row["mechanism"].as_str().unwrap();
            let answer = real.run_line(&format!("explain {explained} --stored --format json"));
            if let (0, Some(words)) = (answer.status, read(row)) {
                let answer = answer.json();
                if answer["run"] == id.as_str() && answer["mechanism"] == label.as_str() {
                    assert!(answer["figure"].as_str().unwrap().starts_with(&words), "{answer}");
                }
            }
        }
    }
    // A series holds runs of one method version.
    let fresh = tempfile::tempdir().unwrap();
    let store = format!("--store {}/series.db", fresh.path().display());
    for name in ["answers/goroutine-1", "answers/goroutine-2", "answers/goroutine-3", "ladder"] {
        let file = repository().join(format!("data/example/{name}.jsonl"));
        assert_eq!(real.run(&format!("import {} {store}", file.display())).status, 0, "{name}");
    }
    let history = real.run(&format!("history fiber/goroutine --machine all --format json {store}")).json();
    for trend in history["trends"].as_array().unwrap() {
        for point in trend["points"].as_array().unwrap() {
            let run = point["run"].as_str().unwrap().to_owned();
            let same = |(key, figure): &(&(String, String), &Figure)| key.0 == run && figure.0 == point["median"];
            assert!(point["median"].is_null() || all.iter().any(|known| same(&known)), "{run}: {point}");
            seen[3] += 1;
        }
    }
    assert!(seen.iter().all(|views| *views > 5), "{seen:?}");
}

/// What others are set beside has one figure or none: nothing is below a floor with modes.
#[test]
fn a_row_is_below_no_floor_that_has_modes() {
    let world = World::new(FAKE);
    let floor =
        mechanism("").replace("default = \"1000\"", "default = \"4000\"").replace("title", "control = true\ntitle");
    world.write("share/switchcost/mechanisms/thread/noise.toml", &floor);
    let above = mechanism("").replace("title", "floor = [\"thread/noise\"]\ntitle");
    world.write("share/switchcost/mechanisms/thread/honest.toml", &above);
    let said = world.run("run thread/honest thread/noise --rounds 12");
    assert_eq!(said.status, 0, "{said:?}");
    let below = |words: &str| words.contains("below its floor, thread/noise (4,000 ns)");
    let single = world.run("show --notes").words();
    assert!(below(&single), "{single}");
    let of_floor = |line: &str| line.contains("\"plan\":{\"mechanism\":\"thread/noise\"");
    let kinds = world.forged("kinds", |text| {
        text.lines().map(|line| if of_floor(line) { two_kinds(line) } else { format!("{line}\n") }).collect()
    });
    let modes = world.run(&format!("show {kinds} --notes")).words();
    assert!(modes.contains("modes: 2,000 (50 %) or 4,000 (50 %)") && !modes.contains("below its floor"), "{modes}");
}
