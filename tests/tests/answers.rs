//! What a headline says is what its table says, and no conclusion hides what limits it.

use serde_json::Value;
use switchcost_e2e::{Said, World, mechanism, repository, sealed, with};
use switchcost_model::{Disturbance, EndedBy, Run};
use switchcost_store::Store;

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

/// A store with an undisturbed run, and a file of the same run as other programs disturbed each of
/// its starts.
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

/// Which programs read; none of them may take such a figure for one of a quiet machine.
#[test]
fn every_form_says_that_each_start_was_disturbed() {
    let (world, busy) = disturbed();
    let export = |run: &str, form: &str| world.run_words(&["export", run, "--format", form]).out;
    let json: Value = serde_json::from_str(&export(&busy, "json")).unwrap();
    let disturbed = serde_json::json!([{ "condition": "disturbed", "starts": 10, "of": 10 }]);
    for row in json["results"].as_array().unwrap() {
        assert_eq!(row["conditions"], disturbed, "{row}");
    }
    assert!(json["cautions"][0].as_str().unwrap().starts_with("Other programs disturbed"), "{json}");
    // Of each form its lines about a row's condition, by what stands in them.
    let lines = [
        ("csv", ",disturbed\n", 2),
        ("benchstat", "# Thread/", 2),
        ("benchstat", "# Other programs disturbed", 1),
        ("prometheus", "condition=\"disturbed\"} 1", 2),
        ("prometheus", "caution=\"Other programs disturbed", 1),
        ("jsonl", "foreign_cpu", 20),
    ];
    for (form, words, least) in lines {
        let said = |run| export(run, form).lines().filter(|line| format!("{line}\n").contains(words)).count();
        assert!(said(&busy) >= least, "{form}: {}", export(&busy, form));
        assert_eq!(said("latest"), 0, "{form}: {}", export("latest", form));
    }
}

/// Each line but the headline and what stands around a table.
fn rows_of<'t>(text: &'t str, name: &str) -> Vec<&'t str> {
    text.lines().filter(|line| line.starts_with(&format!(" {name}"))).collect()
}

/// A store whose only run, of this machine, is the one that these words measure, each of its starts
/// disturbed.
fn only_disturbed(world: &World, words: &str) -> String {
    let said = world.run(words);
    assert!([0, 4].contains(&said.status), "{said:?}");
    let mut run = Store::open(&world.store()).unwrap().load("latest").unwrap();
    let path = world.path("busy.sqlite");
    let mut busy = Store::open(&path).unwrap();
    let begun = Run { invocations: Vec::new(), ended_by: EndedBy::Unfinished, ended_unix_ns: None, ..run.clone() };
    busy.begin_run(&begun).unwrap();
    for mut start in std::mem::take(&mut run.invocations) {
        start.disturbances = vec![Disturbance::ForeignCpu { ns: 400_000_000, of_ns: 800_000_000 }];
        busy.add_invocation(&run.id, &start).unwrap();
    }
    busy.finish_run(&run).unwrap();
    path.display().to_string()
}

#[test]
fn layers_of_disturbed_rows_add_up_to_nothing_sure() {
    let layer = "[[layer]]\nname = \"parts\"\nfrom = [{ mechanism = \"thread/noise\", parameters = { ticks = \"1000\" }, times = 1.0 }]\nminus = []\nwhy = \"a test\"\n";
    let world = World::new(FAKE);
    world.write("share/switchcost/mechanisms/thread/honest.toml", &mechanism(layer));
    let store = only_disturbed(&world, "explain thread/honest --rounds 10");
    assert_eq!(world.run("explain thread/honest --stored --format json").json()["adds_up"], "yes");
    let ask = ["explain", "thread/honest", "--stored", "--store", &store];
    let said = world.run_words(&ask);
    assert!(said.out.starts_with("Other programs disturbed 2 of 2 rows"), "{said:?}");
    assert!(said.words().contains("adds up within ±5 %: inconclusive (disturbed)."), "{said:?}");
    for name in ["parts", "thread/honest"] {
        let rows = rows_of(&said.out, name);
        assert!(!rows.is_empty() && rows.iter().all(|row| row.contains("  disturbed")), "{rows:?} {said:?}");
    }
    let json = world.run_words(&[&ask[..], &["--format", "json"]].concat()).json();
    assert_eq!(json["adds_up"], "cannot tell", "{json}");
    let limits = json["limits"].as_array().unwrap();
    assert!(limits.len() == 2 && limits.iter().all(|row| row["conditions"][0]["condition"] == "disturbed"), "{json}");
}

#[test]
fn a_sweep_of_disturbed_rows_says_so_above_its_order() {
    let world = World::new(FAKE);
    let store = only_disturbed(&world, "sweep contexts thread/honest thread/spread --values 2,4 --rounds 10");
    let said = world.run_words(&["show", "--store", &store]);
    assert!(said.out.starts_with("Other programs disturbed 4 of 4 rows"), "{said:?}");
    for name in ["thread/honest", "thread/spread"] {
        let rows = rows_of(&said.out, name);
        assert!(!rows.is_empty() && rows.iter().all(|row| row.contains("  disturbed")), "{said:?}");
    }
}

#[test]
fn a_trend_judges_no_disturbed_run_and_says_why() {
    let world = World::new(FAKE);
    let store = only_disturbed(&world, "run thread/honest thread/spread --rounds 10");
    for pattern in ["thread/*", "thread/honest"] {
        let said = world.run_words(&["history", pattern, "--store", &store]);
        assert!(said.out.starts_with("None of these runs can be judged"), "{said:?}");
        let why = said.words().matches("not judged: other programs disturbed 10 of its 10 starts").count();
        assert_eq!(why, if pattern == "thread/*" { 2 } else { 1 }, "{said:?}");
    }
}

#[test]
fn an_audit_by_prices_of_disturbed_starts_says_so() {
    let world = World::new(FAKE);
    let store = only_disturbed(&world, "run thread/honest --param ticks=500,1000,30000 --rounds 6 --batches 5");
    let file = world.path("audit.json").display().to_string();
    let ask = ["audit", "--store", &store, "--format", "json", "--output", &file, "--", FAKE, "switch", "400"];
    let said = world.run_words(&ask);
    assert_eq!(said.status, 0, "{said:?}");
    let json: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let sentence = json["sentence"].as_str().unwrap();
    assert!(
        sentence.ends_with("Other programs ran while the cost per switch was measured: it may be too high."),
        "{json}"
    );
    assert!(json["prices"].as_array().unwrap().iter().all(|price| price["disturbed"] == true), "{json}");
}

#[test]
fn nothing_is_judged_by_disturbed_runs_of_a_fleet() {
    let world = World::new(FAKE);
    let store = only_disturbed(&world, "run thread/honest --rounds 8");
    let body = world.run_words(&["export", "--private-facts", "--store", &store]).out;
    let (body, _) = body.trim_end().rsplit_once('\n').unwrap();
    assert_eq!(world.run_words(&["baseline", "set", "check", "--store", &store]).status, 0);
    let said = world.run_words(&["check", "--store", &store]);
    assert!(!said.out.starts_with("fit"), "{said:?}");
    for node in 0..7 {
        let own = with(
            &with(body, "\"id\":\"", &format!("20270101T000000-000{node}")),
            "\"host_name\":\"",
            &format!("n{node}"),
        );
        world.write(&format!("nodes/n{node}.jsonl"), &sealed(&format!("{own}\n")));
    }
    let said = world.run_words(&["fleet", "judge", &world.path("nodes").display().to_string()]);
    let busy =
        "Inconclusive: other programs ran beside most starts of 7 of 7 nodes; measure again when nothing else runs.";
    assert!(said.words().starts_with(busy) && said.status == 3, "{said:?}");
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
