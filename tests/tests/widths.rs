//! Every table of every command on narrow terminals: no line is longer than the terminal, and no id, date or name is broken.

use std::process::Command;
use switchcost_e2e::{Real, repository};

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

const COMMANDS: &[&str] = &[
    "show DATA/ladder.jsonl",
    "show DATA/ladder.jsonl -v",
    "show DATA/ladder.jsonl --notes",
    "show DATA/answers/ring.jsonl",
    "show DATA/answers/million-native.jsonl",
    "show DATA/answers/million-runtimes.jsonl",
    "show DATA/answers/million-memory.jsonl",
    "show DATA/answers/timer.jsonl",
    "show DATA/answers/timer.jsonl -v",
    "show DATA/answers/placement.jsonl",
    "compare DATA/answers/goroutine-1.jsonl DATA/answers/goroutine-2.jsonl --gate 5%",
    "compare DATA/ladder.jsonl:thread/pipe 'thread/*'",
    "compare DATA/ladder.jsonl:stack/asm 'fiber/*' 'stack/*'",
    "history",
    "history fiber/goroutine --machine all",
    "list",
    "list -v",
    "list stack",
    "baseline list",
    "classic",
    "explain",
    "explain -v",
    "doctor",
];

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
        assert!(said.out.lines().count() - own <= 25, "{words}: {}", said.out);
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
fn every_table_fits_a_narrow_terminal() {
    let Some((real, data)) = kept() else { return };
    let command = real.command("list");
    let program = command.get_program().to_str().unwrap().to_owned();
    let home = command.get_envs().find(|(name, _)| *name == "XDG_DATA_HOME").unwrap().1.unwrap().to_owned();
    let at = |width: usize, words: &str| {
        let line = format!("stty cols {width} rows 90; exec {program} {words}");
        let mut script = Command::new("script");
        script.args(["-qec", &line, "/dev/null"]).env("XDG_DATA_HOME", &home).env("TERM", "xterm").env("NO_COLOR", "1");
        String::from_utf8(script.output().unwrap().stdout).unwrap().replace('\r', "")
    };
    let mut wrong = Vec::new();
    for words in COMMANDS {
        let words = words.replace("DATA", &data);
        let wide = at(400, &words);
        for width in [80, 100] {
            let text = at(width, &words);
            let long = text.lines().filter(|line| line.chars().count() > width && !line.contains(&program));
            wrong.extend(long.map(|line| format!("{width} {words}: {line}")));
            // What a column has no room for is said to be left out.
            let said = text.contains("no room for") || text.contains('…') || text.contains("points are shown");
            let lost = whole(&wide).filter(|word| !said && !text.contains(word));
            wrong.extend(lost.map(|word| format!("{width} {words}: {word} is broken or gone")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
