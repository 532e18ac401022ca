//! What a headline says is what its table says, and no conclusion hides what limits it.

use serde_json::Value;
use switchcost_e2e::{Said, World, repository, with};

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

/// A store with an undisturbed run, and a file of the same run as other programs disturbed each of its starts.
fn disturbed() -> (World, String) {
    let world = World::new(FAKE);
    let said = world.run("run thread/honest thread/spread --rounds 10 --seed 1");
    assert_eq!(said.status, 0, "{said:?}");
    let others = r#""disturbances":[{"kind":"foreign_cpu","ns":400000000,"of_ns":800000000}]"#;
    let busy = world
        .forged("busy", |text| with(text, "\"id\":\"", "20270101T000000-0000").replace(r#""disturbances":[]"#, others));
    assert!(std::fs::read_to_string(&busy).unwrap().matches(others).count() >= 20, "the test needs such starts");
    (world, busy)
}

#[test]
fn every_command_says_that_each_start_was_disturbed() {
    let (world, busy) = disturbed();
    let (a, b) = (format!("{busy}:thread/honest"), format!("{busy}:thread/spread"));
    let clear = "latest".to_owned();
    let commands: [&[&str]; 8] = [
        &["show", &busy],
        &["show", &busy, "-v"],
        &["show", &busy, "--notes"],
        &["export", &busy, "--format", "md"],
        &["compare", &a, &b],
        &["compare", &a, &b, "--format", "md"],
        &["compare", &clear, &busy],
        &["compare", &clear, &busy, "--format", "md"],
    ];
    for words in commands {
        let Said { out, .. } = world.run_words(words);
        // Where nothing is concluded, no conclusion needs it.
        let open = out.contains(": 2 inconclusive");
        assert!(open || out.trim_start().starts_with("Other programs disturbed"), "{words:?}: {out}");
        // And beside each row.
        let marked = |name: &str| {
            // Without room for words a letter stands there, and its meaning below.
            let letter = |line: &str| line.trim_end().ends_with("  d") && out.contains("\n  d disturbed\n");
            let said = |line: &str| line.contains("  disturbed") || line.contains("| disturbed") || letter(line);
            out.lines().any(|line| line.contains(name) && said(line))
        };
        assert!(marked("thread/honest") && marked("thread/spread"), "{words:?}: {out}");
    }
    let json = world.run_words(&["compare", &a, &b, "--format", "json"]).json();
    for side in ["a", "b"] {
        let limits = &json["comparisons"][0][side]["conditions"];
        assert_eq!(limits[0], serde_json::json!({"condition": "disturbed", "starts": 10, "of": 10}), "{json}");
    }
}

#[test]
fn what_carries_a_rate_is_judged_of_rows_without_a_condition() {
    let (world, busy) = disturbed();
    let json = world.run("compare honest spread --rate 50k/s --format json").json();
    let burdens = json["loaded"]["burdens"].as_array().unwrap();
    assert!(
        burdens.iter().all(|burden| burden["fit"] == "fits" && burden["conditions"] == serde_json::json!([])),
        "{json}"
    );
    let [a, b] = ["honest", "spread"].map(|name| format!("{busy}:thread/{name}"));
    let rows = world.run_words(&["compare", &a, &b, "--format", "json"]).json();
    assert_eq!(rows["comparisons"][0]["a"]["conditions"][0]["condition"], "disturbed", "{rows}");
}

/// Labels with their verdicts, as JSON has them.
fn verdicts(json: &Value) -> Vec<(String, String)> {
    let rows = json["comparisons"].as_array().unwrap().iter();
    rows.map(|row| (row["b"]["label"].as_str().unwrap().to_owned(), row["verdict"].as_str().unwrap().to_owned()))
        .collect()
}

#[test]
fn a_headline_counts_what_its_table_has() {
    let world = World::new(FAKE);
    let data = repository().join("data/example");
    let file = |name: &str| data.join(name).display().to_string();
    let ladder = file("ladder.jsonl");
    let questions: [Vec<String>; 3] = [
        vec![format!("{ladder}:stack/asm"), "fiber/*".into(), "stack/*".into()],
        vec![file("answers/goroutine-1.jsonl"), file("answers/goroutine-2.jsonl")],
        vec![ladder, file("answers/isolation.jsonl")],
    ];
    for question in questions {
        let said = |form: &str| {
            let words: Vec<&str> =
                ["compare", "--format", form].into_iter().chain(question.iter().map(String::as_str)).collect();
            world.run_words(&words)
        };
        let (json, text) = (said("json").json(), said("table").out);
        let (_, from) = text.split_once("gainst ").unwrap();
        let more = from.lines().skip(1).take_while(|line| line.starts_with("    "));
        let headline =
            std::iter::once(from.lines().next().unwrap()).chain(more.map(str::trim)).collect::<Vec<_>>().join(" ");
        let verdicts = verdicts(&json);
        for (word, verdict) in
            [("slower", "slower"), ("faster", "faster"), ("the same", "same"), ("inconclusive", "cannot_tell")]
        {
            let count = verdicts.iter().filter(|(_, one)| one == verdict).count();
            let says = headline.contains(&format!("{count} {word}"));
            assert!(says == (count > 0), "{headline}: {count} {word}");
        }
        // Each row has a line, whatever its verdict.
        for (label, _) in &verdicts {
            let name = label.split(' ').next().unwrap();
            assert!(text.lines().any(|line| line.starts_with(&format!(" {name} "))), "{label} has no line: {text}");
        }
    }
}
