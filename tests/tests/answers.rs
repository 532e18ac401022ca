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
        assert!(out.trim_start().starts_with("Other programs disturbed"), "{words:?}: {out}");
        // And beside each row.
        let marked = |name: &str| {
            out.lines().any(|line| line.contains(name) && line.contains("  disturbed") || line.contains("| disturbed"))
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
fn a_disturbed_mechanism_neither_fits_nor_does_not() {
    let (world, busy) = disturbed();
    let fits = |world: &World| {
        let said = world.run("compare honest spread --rate 50k/s --format json");
        let burdens = said.json()["loaded"]["burdens"].clone();
        burdens.as_array().unwrap().iter().map(|burden| burden["fit"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(fits(&world), ["fits", "fits"]);
    let other = World::new(FAKE);
    let text = std::fs::read_to_string(busy).unwrap();
    other.write("busy.jsonl", &text);
    // Imported runs answer no question by names: it is measured, so that the kept run is judged by rows.
    assert_eq!(other.run_words(&["import", other.path("busy.jsonl").to_str().unwrap()]).status, 0);
    let rows = other.run("compare thread/honest thread/spread --format json").json();
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
        let headline = text.lines().find(|line| line.contains(" gainst ") || line.contains("gainst ")).unwrap();
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
            assert!(text.lines().any(|line| line.starts_with(&format!(" {label} "))), "{label} has no line: {text}");
        }
    }
}
