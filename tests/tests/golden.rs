//! What the program says of kept runs, word for word: one file for each output in tests/golden. Other tests assert figures, codes and statuses.
//!
//! SWITCHCOST_GOLDEN=1 writes the files anew; read what changed.

use switchcost_e2e::{Real, repository};

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

/// Name of the file, and the command. DATA stands for data/example.
const OUTPUTS: &[(&str, &str)] = &[
    ("show", "show DATA/ladder.jsonl"),
    ("show-rows", "show thread/pipe"),
    ("show-verbose", "show DATA/ladder.jsonl -v"),
    ("show-notes", "show DATA/ladder.jsonl --notes"),
    ("show-sweep", "show DATA/answers/ring.jsonl"),
    ("show-memory", "show DATA/answers/million-memory.jsonl"),
    ("show-placements", "show DATA/answers/placement.jsonl"),
    ("show-each", "show DATA/answers/timer.jsonl"),
    ("show-unobservable", "show DATA/answers/blind.jsonl"),
    ("compare-runs", "compare DATA/answers/goroutine-1.jsonl DATA/answers/goroutine-2.jsonl --gate 5%"),
    ("compare-rows", "compare DATA/ladder.jsonl:thread/pipe fiber/goroutine thread/futex"),
    (
        "compare-percentile",
        "compare 'DATA/answers/timer.jsonl:fiber/boost contexts=4 each' 'DATA/answers/timer.jsonl:fiber/boost contexts=50 each' --at p99",
    ),
    ("history", "history"),
    ("history-rows", "history fiber/goroutine --machine all"),
    ("export-md", "export DATA/ladder.jsonl --format md"),
    ("export-benchstat", "export DATA/answers/goroutine-1.jsonl --format benchstat"),
    ("export-bencher", "export DATA/answers/goroutine-1.jsonl --format bencher"),
    ("export-github", "export DATA/answers/goroutine-1.jsonl --format github-action-benchmark"),
    ("export-prometheus", "export DATA/answers/goroutine-1.jsonl --format prometheus"),
    ("export-csv", "export DATA/answers/blind.jsonl --format csv"),
];

#[test]
fn every_output_is_as_it_was_read_last() {
    let Some(real) = Real::new(FAKE) else { return };
    let data = repository().join("data/example");
    let data = data.to_str().unwrap();
    let kept = ["answers/goroutine-1", "answers/goroutine-2", "answers/goroutine-3", "ladder"];
    for kept in kept {
        assert_eq!(real.run(&format!("import {data}/{kept}.jsonl")).status, 0, "{kept}");
    }
    let folder = repository().join("tests/golden");
    let mut wrong = Vec::new();
    for (name, command) in OUTPUTS {
        let said = real.run_line(&command.replace("DATA", data));
        // By a clock that is behind, kept runs lie in the future.
        let notes = said.err.lines().filter(|line| !line.contains("lies in the future"));
        let notes: String = notes.map(|line| format!("{line}\n")).collect();
        let text =
            format!("$ switchcost {command}\n{}{notes}exit status {}\n", said.out, said.status).replace(data, "DATA");
        let file = folder.join(format!("{name}.txt"));
        if std::env::var_os("SWITCHCOST_GOLDEN").is_some() {
            std::fs::write(&file, &text).unwrap();
        }
        let before = std::fs::read_to_string(&file).unwrap_or_default();
        if let Some((now, before)) = text.lines().zip(before.lines()).find(|(now, before)| now != before) {
            wrong.push(format!("{name}.txt: {before:?} is now {now:?}"));
        } else if text != before {
            wrong.push(format!("{name}.txt has another length"));
        }
    }
    assert!(wrong.is_empty(), "{}\nread what changed, then: SWITCHCOST_GOLDEN=1", wrong.join("\n"));
    let names: Vec<String> = OUTPUTS.iter().map(|(name, _)| format!("{name}.txt")).collect();
    for file in std::fs::read_dir(folder).unwrap().flatten() {
        let name = file.file_name().into_string().unwrap();
        assert!(names.contains(&name), "tests/golden/{name} is of no command");
    }
}
