//! How long a default answer is. How wide it is, golden.rs asks.

use switchcost_e2e::{Real, repository};

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

/// Commands whose answer is as long as we make it. Of the others a row or a run has a line.
const SHORT: &[&str] = &[
    "list",
    "classic",
    "explain",
    "doctor",
    "history",
    "history fiber/goroutine --machine all",
    "show thread/pipe",
    "compare DATA/answers/goroutine-1.jsonl DATA/answers/goroutine-2.jsonl --gate 5%",
    "compare DATA/ladder.jsonl:thread/pipe 'thread/*'",
    "export latest --format benchstat",
    "baseline list",
];

/// A store with the runs that the commands name, and where the others are.
fn kept() -> Option<(Real, String)> {
    let real = Real::new(FAKE)?;
    let data = repository().join("data/example").to_str().unwrap().to_owned();
    for kept in ["answers/goroutine-1", "answers/goroutine-2", "ladder"] {
        assert_eq!(real.run(&format!("import {data}/{kept}.jsonl")).status, 0, "{kept}");
    }
    Some((real, data))
}

#[test]
fn a_default_answer_is_short_and_no_text_is_wide() {
    let Some((real, data)) = kept() else { return };
    for words in SHORT {
        let said = real.run_line(&words.replace("DATA", &data));
        // What this machine lacks or warns of takes lines of its own.
        let own =
            said.out.lines().filter(|line| line.starts_with("[warning]") || line.starts_with("          ")).count();
        // Lists of all names are as long as they are.
        let most = match *words {
            "list" => 46,
            "explain" => 28,
            _ => 25,
        };
        assert!(said.out.lines().count() - own <= most, "{words}: {}", said.out);
    }
    for i in 0..30 {
        let file = repository().join("data/example/ladder.jsonl");
        let text = std::fs::read_to_string(file).unwrap();
        let (body, _) = text.trim_end().rsplit_once('\n').unwrap();
        let path = std::env::temp_dir().join(format!("switchcost-short-{}.jsonl", std::process::id()));
        std::fs::write(
            &path,
            switchcost_e2e::sealed(&(body.replace("T160157-1c0e", &format!("T1601{i:02}-1c0e")) + "\n")),
        )
        .unwrap();
        assert_eq!(real.run(&format!("import {}", path.display())).status, 0);
        std::fs::remove_file(path).unwrap();
    }
    let listed = real.run("history").out;
    assert!(listed.lines().count() <= 25 && listed.contains("older runs: switchcost history --last 33"), "{listed}");
    let trend = real.run("history thread/futex --machine all").out;
    assert!(trend.lines().count() <= 25 && trend.contains("older runs: -v"), "{trend}");
}

#[test]
fn below_a_table_are_three_lines_and_above_it_its_own_rows() {
    let Some((real, data)) = kept() else { return };
    for kept in ["ladder", "answers/million-native", "answers/million-runtimes", "answers/sandbox", "answers/placement"]
    {
        let said = real.run_line(&format!("show {data}/{kept}.jsonl")).out;
        let below: Vec<&str> = said.trim_end().rsplit("\n\n").next().unwrap().lines().collect();
        assert!(below.len() <= 5 && below[0].contains("passed"), "{kept}: {below:#?}");
        assert!(said.lines().count() <= 45, "{kept}: {said}");
        // A clause without room has its place.
        let limits = real.run_line(&format!("show {data}/{kept}.jsonl -v")).out;
        assert!(below.iter().all(|line| !line.contains("disturbed")) || limits.contains("may be too high"), "{limits}");
    }
    for (patterns, named) in [("'fiber/*' 'stack/*'", false), ("'fiber/*' 'stack/*' thread/futex", true)] {
        let said = real.run_line(&format!("show {data}/ladder.jsonl {patterns}")).out;
        let headline = said.split("  run ").next().unwrap();
        assert_eq!(headline.contains("thread/futex"), named, "{said}");
        assert!(headline.contains("fiber/goroutine") && !headline.contains("coroutine/"), "{said}");
    }
}

#[test]
fn a_table_in_a_pipe_is_as_narrow_as_a_terminal_and_loses_no_column() {
    let Some((real, data)) = kept() else { return };
    let two = format!("compare {data}/ladder.jsonl {data}/answers/isolation.jsonl");
    for words in ["show latest -v", "history", "list -v", "history fiber/goroutine --machine all", &two] {
        let said = real.run_line(words).out;
        assert!(said.lines().all(|line| line.chars().count() <= 100), "{words}: {said}");
        // Titles of controls are as long as a line; `list NAME` has them.
        assert!(words == "list -v" || !said.contains("no room for"), "{words}: {said}");
    }
    // The row that moved most stands first, a caution once, and no ratio is below one.
    let said = real.run_line(&two).out;
    let moved: Vec<&str> = said.lines().filter(|line| line.contains(" % faster")).collect();
    assert!(said.lines().count() <= 25 && moved.len() == 4, "{said}");
    assert!(moved[0].contains("28 % faster") && moved[3].contains("21 % faster"), "{said}");
    assert!(said.matches("different machines").count() == 1 && !said.contains("0."), "{said}");
}
