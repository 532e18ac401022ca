//! What the program says of kept runs, word for word: one file for each output in tests/golden, of
//! tables also as terminals of 80 and 100 columns show them. Other tests assert figures, codes and
//! statuses.
//!
//! SWITCHCOST_GOLDEN=1 writes the files anew; read what changed.

use crate::drawn;
use std::path::Path;
use std::process::Command;
use switchcost_e2e::{Real, Said, World, repository, scaled, sealed, with};
use switchcost_report::Style;

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

/// Terminals.
const WIDTHS: [u16; 2] = [80, 100];

/// Name of the file, and the command. DATA stands for data/example, FLEET for a folder of nodes.
const TABLES: &[(&str, &str)] = &[
    ("show", "show DATA/ladder.jsonl"),
    ("show-rows", "show thread/pipe"),
    ("show-verbose", "show DATA/ladder.jsonl -v"),
    ("show-notes", "show DATA/ladder.jsonl --notes"),
    ("show-sweep", "show DATA/answers/ring.jsonl"),
    ("show-native", "show DATA/answers/million-native.jsonl"),
    ("show-runtimes", "show DATA/answers/million-runtimes.jsonl"),
    ("show-memory", "show DATA/answers/million-memory.jsonl"),
    ("show-placements", "show DATA/answers/placement.jsonl"),
    ("show-each", "show DATA/answers/timer.jsonl"),
    ("show-each-verbose", "show DATA/answers/timer.jsonl -v"),
    ("show-wakeup", "show DATA/answers/latency.jsonl"),
    // The title is longer than the name.
    ("show-wakeup-one", "show DATA/answers/latency.jsonl 'thread/timer hogs=0'"),
    ("show-unobservable", "show DATA/answers/blind.jsonl"),
    ("compare-runs", "compare DATA/answers/goroutine-1.jsonl DATA/answers/goroutine-2.jsonl --gate 5%"),
    ("compare-rows", "compare DATA/ladder.jsonl:thread/pipe fiber/goroutine thread/futex"),
    ("compare-many", "compare DATA/ladder.jsonl:stack/asm 'fiber/*' 'stack/*'"),
    (
        "compare-percentile",
        "compare 'DATA/answers/timer.jsonl:fiber/boost contexts=4 each' 'DATA/answers/timer.jsonl:fiber/boost contexts=50 each' --at p99",
    ),
    ("history", "history"),
    ("history-rows", "history fiber/goroutine --machine all"),
    ("fleet", "fleet judge FLEET"),
    ("classic", "classic"),
    ("explain-list", "explain"),
    ("explain-list-verbose", "explain -v"),
];

/// The same of the mechanisms of the fake probe alone, whatever is installed here.
const LISTS: &[(&str, &str)] =
    &[("list", "list"), ("list-verbose", "list -v"), ("list-one", "list sized"), ("list-one-verbose", "list sized -v")];

/// Documents for other programs, and for pages.
const DOCUMENTS: &[(&str, &str)] = &[
    ("export-md", "export DATA/ladder.jsonl --format md"),
    ("export-benchstat", "export DATA/answers/goroutine-1.jsonl --format benchstat"),
    ("export-prometheus", "export DATA/answers/goroutine-1.jsonl --format prometheus"),
    ("export-csv", "export DATA/answers/blind.jsonl --format csv"),
];

/// What depends on this machine: no line is longer than the terminal, and no word is lost.
const HERE: &[&str] = &["list", "list -v", "list stack", "baseline list", "classic -v", "doctor", "doctor -v"];

/// Nodes of the fleet: how much each takes of the time of the kept run. More would not fit the time
/// that its starts took.
const NODES: [f64; 8] = [0.7, 0.702, 0.704, 0.701, 0.94, 0.703, 0.7, 0.702];

/// A file of what was said: as it is piped, and at each width, if that differs.
#[derive(Default)]
struct Golden {
    wrong: Vec<String>,
    names: Vec<String>,
}

impl Golden {
    fn compare(&mut self, name: &str, text: &str) {
        let file = repository().join(format!("tests/golden/{name}.txt"));
        if std::env::var_os("SWITCHCOST_GOLDEN").is_some() {
            std::fs::write(&file, text).unwrap();
        }
        let before = std::fs::read_to_string(&file).unwrap_or_default();
        if let Some((now, before)) = text.lines().zip(before.lines()).find(|(now, before)| now != before) {
            self.wrong.push(format!("{name}.txt: {before:?} is now {now:?}"));
        } else if text != before {
            self.wrong.push(format!("{name}.txt has another length"));
        }
        self.names.push(format!("{name}.txt"));
    }

    /// `wide`: with room for all.
    fn table(&mut self, name: &str, piped: &str, wide: &str, at: impl Fn(u16) -> String) {
        let mut text = piped.to_owned();
        for width in WIDTHS {
            let shown = at(width);
            self.narrow(name, &shown, wide, width);
            let same = piped.contains(&shown);
            text += &format!("\n# {width} columns{}\n", if same { ": the same" } else { "" });
            text += if same { "" } else { &shown };
        }
        self.compare(name, &text);
    }

    /// No line is longer than the terminal, and no id, date or name is broken or left out without a
    /// word.
    fn narrow(&mut self, name: &str, shown: &str, wide: &str, width: u16) {
        let long = shown.lines().filter(|line| line.chars().count() > usize::from(width));
        self.wrong.extend(long.map(|line| format!("{width} {name}: {line}")));
        let said = shown.contains("no room for") || shown.contains('…') || shown.contains("points are shown");
        let lost = whole(wide).filter(|word| !said && !shown.contains(word));
        self.wrong.extend(lost.map(|word| format!("{width} {name}: {word} is broken or gone")));
    }
}

/// Words that stay whole: ids of runs, dates, names of mechanisms.
fn whole(text: &str) -> impl Iterator<Item = &str> {
    let run =
        |word: &&str| word.len() > 18 && word.as_bytes()[8] == b'T' && word[..8].bytes().all(|b| b.is_ascii_digit());
    let name =
        |word: &&str| word.split_once('/').is_some_and(|(a, b)| !a.is_empty() && b.len() > 2 && !b.contains('/'));
    text.split_whitespace().filter(move |word| {
        run(word) || name(word) && word.bytes().all(|b| b.is_ascii_lowercase() || b"/-0123456789".contains(&b))
    })
}

/// What a terminal of so many columns shows of a command.
pub fn shown(command: &Command, words: &str, width: u16) -> String {
    let line =
        format!("stty cols {width} rows 90; exec {} {words} 2>/dev/null", command.get_program().to_str().unwrap());
    let mut script = Command::new("script");
    script.args(["-qec", &line, "/dev/null"]).env_clear().env("PATH", std::env::var_os("PATH").unwrap());
    script.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    script.envs([("TERM", "xterm"), ("NO_COLOR", "1"), ("LC_ALL", "C.UTF-8")]);
    without_clock(&String::from_utf8(script.output().unwrap().stdout).unwrap().replace('\r', ""))
}

/// By a clock that is behind, kept runs lie in the future.
fn without_clock(said: &str) -> String {
    said.lines().filter(|line| !line.contains("lies in the future")).map(|line| format!("{line}\n")).collect()
}

/// Nodes made of a kept run, one of which is slow.
fn fleet(folder: &Path) {
    let kept = std::fs::read_to_string(repository().join("data/example/ladder.jsonl")).unwrap();
    let (body, _) = kept.trim_end().rsplit_once('\n').unwrap();
    for (node, factor) in NODES.iter().enumerate() {
        let line = |line: &str| match line {
            run if run.starts_with("{\"t\":\"run\"") => with(run, "\"id\":\"", &format!("20260101T000000-{node:04x}")),
            start if start.starts_with("{\"t\":\"invocation\"") => scaled(start, *factor),
            other => other.to_owned(),
        };
        let text: String = body.lines().map(|each| line(each) + "\n").collect();
        std::fs::write(folder.join(format!("n{node}.jsonl")), sealed(&text)).unwrap();
    }
}

#[test]
fn every_output_is_as_it_was_read_last() {
    let Some(real) = Real::new(FAKE) else { return };
    let data = repository().join("data/example");
    let data = data.to_str().unwrap();
    for kept in ["answers/goroutine-1", "answers/goroutine-2", "answers/goroutine-3", "ladder"] {
        assert_eq!(real.run(&format!("import {data}/{kept}.jsonl")).status, 0, "{kept}");
    }
    let nodes = tempfile::tempdir().unwrap();
    fleet(nodes.path());
    let nodes = nodes.path().to_str().unwrap();
    let named = |text: &str| text.replace(data, "DATA").replace(nodes, "FLEET");
    let mut golden = Golden::default();
    let said = |command: &str, Said { out, err, status }: Said| {
        named(&format!("$ switchcost {command}\n{out}{}exit status {status}\n", without_clock(&err)))
    };
    let typed = |command: &str| command.replace("DATA", data).replace("FLEET", nodes);
    for (name, command) in TABLES {
        let at = |width| named(&shown(&real.command(""), &typed(command), width));
        golden.table(name, &said(command, real.run_line(&typed(command))), &at(400), at);
    }
    let world = World::new(FAKE);
    for (name, command) in LISTS {
        let at = |width| shown(&world.command(&[]), command, width);
        golden.table(name, &said(command, world.run(command)), &at(400), at);
    }
    for (name, draw) in drawn::ANSWERS {
        let at = |width| draw(Style { width: Some(width), ..Style::PIPED });
        golden.table(name, &draw(Style::PIPED), &at(400), at);
    }
    for (name, command) in DOCUMENTS {
        golden.compare(name, &said(command, real.run_line(&typed(command))));
    }
    for command in HERE {
        let at = |width| shown(&real.command(""), command, width);
        WIDTHS.into_iter().for_each(|width| golden.narrow(command, &at(width), &at(400), width));
    }
    assert!(golden.wrong.is_empty(), "{}\nread what changed, then: SWITCHCOST_GOLDEN=1", golden.wrong.join("\n"));
    for file in std::fs::read_dir(repository().join("tests/golden")).unwrap().flatten() {
        let name = file.file_name().into_string().unwrap();
        assert!(golden.names.contains(&name), "tests/golden/{name} is of no command");
    }
}
