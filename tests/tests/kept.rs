//! What README and docs/answers.md rest on: the runs in data/example.

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use switchcost_e2e::{Real, repository};

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

/// Starts of a row: median ns per unit, and share of hops of the timed batches that stayed on one
/// CPU.
type Starts = Vec<(f64, f64)>;

fn kept() -> Vec<PathBuf> {
    let folder = repository().join("data/example");
    let answers = std::fs::read_dir(folder.join("answers")).unwrap().map(|entry| entry.unwrap().path());
    let files = answers.chain([folder.join("ladder.jsonl")]);
    files.filter(|path| path.extension().is_some_and(|extension| extension == "jsonl")).collect()
}

fn start(record: &Value) -> Option<(f64, f64)> {
    let hops = record.pointer("/evidence/hops").filter(|hops| hops["timed"] == true)?;
    let per_second = record.pointer("/hello/clock/ticks_per_second")?.as_f64()?;
    let measured = record["samples"].as_array()?.iter().find(|part| part["phase"] == "measure")?;
    let mut ticks: Vec<f64> = measured["ticks"].as_array()?.iter().filter_map(Value::as_f64).collect();
    ticks.sort_by(f64::total_cmp);
    let median = ticks.get(ticks.len() / 2)? * 1e9 / per_second / measured["units"].as_f64()?;
    Some((median, hops["same_cpu"].as_f64()? / hops["count"].as_f64()?.max(1.0)))
}

/// Rows of a run by mechanism, parameters and probe; in each, the starts of every placement.
fn rows(path: &PathBuf) -> BTreeMap<String, BTreeMap<String, Starts>> {
    let text = std::fs::read_to_string(path).unwrap();
    let records: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let variants: Vec<&Value> = records.iter().filter(|record| record["t"] == "variant").collect();
    let mut rows: BTreeMap<String, BTreeMap<String, Starts>> = BTreeMap::new();
    for record in records.iter().filter(|record| record["t"] == "invocation" && record["verdict"] == "verified") {
        let variant = variants[record["variant"].as_u64().unwrap() as usize];
        let name = format!("{} {} {}", variant["mechanism"], variant["probe"], variant["parameters"]);
        let placement = variant["placement"].as_str().unwrap().to_owned();
        rows.entry(name).or_default().entry(placement).or_default().extend(start(record));
    }
    rows
}

fn middle(starts: &Starts) -> Option<f64> {
    let mut values: Vec<f64> = starts.iter().map(|start| start.0).collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

#[test]
fn hops_and_figures_of_free_rows_lie_on_one_side() {
    let mut checked = 0;
    for path in kept() {
        for (name, placements) in rows(&path) {
            let of = |placement: &str| placements.get(placement).and_then(middle);
            let (Some(near), Some(far), Some(free)) = (of("one_cpu"), of("two_cpus"), placements.get("free")) else {
                continue;
            };
            // Figures that do not differ with the placement tell nothing.
            if far < 2.0 * near {
                continue;
            }
            let midpoint = (near * far).sqrt();
            for (median, same_cpu) in free {
                // In between, some batches of the start were near and some far.
                if (0.25..=0.75).contains(same_cpu) {
                    continue;
                }
                checked += 1;
                assert_eq!(
                    *median < midpoint,
                    *same_cpu > 0.5,
                    "{}: {name}: a start of {median:.0} ns with {same_cpu:.2} of its hops on one CPU; one CPU {near:.0}, two {far:.0}",
                    path.display()
                );
            }
        }
    }
    assert!(checked >= 10, "only {checked} starts could be checked");
}

/// Text without the sequences that set colours.
fn plain(text: &str) -> String {
    let mut parts = text.split('\x1b');
    let first = parts.next().unwrap_or_default().to_owned();
    first + &parts.map(|part| part.split_once('m').unwrap().1).collect::<String>()
}

#[test]
fn the_answer_fits_on_a_screen() {
    let Some(real) = Real::new(FAKE) else { return };
    let ladder = repository().join("data/example/ladder.jsonl");
    let words = format!("show {}", ladder.display());
    let piped = real.run(&words).out;
    let show = real.command(&words);
    let program = show.get_program().to_str().unwrap().to_owned();
    let home = show.get_envs().find(|(name, _)| *name == "XDG_DATA_HOME").unwrap().1.unwrap().to_owned();
    let at = |width: usize, colour: &str| {
        let line = format!("stty cols {width} rows 60; exec {program} {words}");
        let mut script = Command::new("script");
        script
            .args(["-qec", &line, "/dev/null"])
            .env("XDG_DATA_HOME", &home)
            .env("TERM", "xterm")
            .env("NO_COLOR", colour);
        String::from_utf8(script.output().unwrap().stdout).unwrap().replace('\r', "")
    };
    let figure = |name: &str| {
        let line = piped.lines().find(|line| line.trim_start().starts_with(name)).unwrap();
        line.split_whitespace().skip(1).take(2).collect::<Vec<_>>().join(" ")
    };
    for (width, most, text) in [
        (100, 50, piped.clone()),
        (80, 64, at(80, "1")),
        (80, 64, at(80, "")),
        (100, 50, at(100, "1")),
        (100, 50, at(100, "")),
        (200, 50, at(200, "1")),
    ] {
        let text = plain(&text);
        let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(
            text.lines().count() <= most && widest <= width,
            "{width}: {} x {widest}\n{text}",
            text.lines().count()
        );
        // Whatever the width, each row is there with its figure.
        for name in ["stack/asm", "thread/futex", "vm/pair"] {
            let figure = figure(name);
            assert!(
                text.lines().any(|line| line.contains(name) && line.contains(&figure)),
                "{name} at {width}:\n{text}"
            );
        }
    }
    assert!(at(100, "").contains('\x1b') && !at(100, "1").contains('\x1b') && !piped.contains('\x1b'));
    // What is left out is there on request.
    let (columns, notes) = (real.run(&format!("{words} -v")).out, real.run(&format!("{words} --notes")).out);
    assert!(columns.contains("95 % interval") && columns.contains("control/call") && !columns.contains("warning: "));
    assert!(
        notes.contains("95 % interval") && notes.contains("warning: ") && notes.contains("mispredicted every time")
    );
}

/// Plain characters where no others are shown, and colours by the usual variables.
#[test]
fn what_is_shown_fits_the_terminal() {
    let Some(real) = Real::new(FAKE) else { return };
    let ladder = repository().join("data/example/ladder.jsonl");
    let show = |variables: &[(&str, &str)]| {
        let mut command = real.command(&format!("show {}", ladder.display()));
        command.env_remove("LC_ALL").env_remove("LANG").env_remove("LC_CTYPE").envs(variables.iter().copied());
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    let usual = show(&[]);
    assert!(usual.contains('±') && usual.contains('µ') && !usual.contains('\x1b'), "{usual}");
    for variables in [[("TERM", "dumb")], [("LC_ALL", "C")], [("LANG", "de_DE")], [("LC_CTYPE", "POSIX")]] {
        let plain = show(&variables);
        assert!(plain.is_ascii() && !plain.contains(['\x1b', '?']), "{variables:?}: {plain}");
        // Columns stay where they were.
        let widths = |text: &str| text.lines().map(|line| line.chars().count()).collect::<Vec<_>>();
        assert_eq!(widths(&plain)[..20], widths(&usual)[..20], "{plain}\n{usual}");
    }
    for language in [[("LC_ALL", "C.UTF-8"), ("LANG", "C")], [("LC_ALL", ""), ("LANG", "de_DE.utf8")]] {
        assert_eq!(show(&language), usual, "{language:?}");
    }
    let coloured = show(&[("CLICOLOR_FORCE", "1")]);
    // A tint hides the blanks at the end of a line.
    let bare = plain(&coloured).lines().map(|line| format!("{}\n", line.trim_end())).collect::<String>();
    assert_eq!((bare, coloured == usual), (usual.clone(), false));
    for variables in [[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], [("CLICOLOR_FORCE", "0"), ("NO_COLOR", "")]] {
        assert_eq!(show(&variables), usual, "{variables:?}");
    }
    // What programs read is the same everywhere.
    for format in ["json", "csv", "jsonl", "md"] {
        let export = |variable: (&str, &str)| {
            let mut command = real.command(&format!("export {} --format {format}", ladder.display()));
            command.env_remove("LC_ALL").env(variable.0, variable.1).output().unwrap().stdout
        };
        assert_eq!(export(("LC_ALL", "C")), export(("LC_ALL", "C.UTF-8")), "{format}");
    }
}
