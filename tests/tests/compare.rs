//! `compare` with the real binary: figures known exactly, verdicts, gates, and what it refuses.

use switchcost_e2e::{Said, World, mechanism, repository, scaled, sealed, two_kinds, with};

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

/// A store with one run: thread/honest at 1000 and 1100 ns, and their A/A twin.
fn measured() -> World {
    let world = World::new(FAKE);
    let said = world.run("run thread/honest --param ticks=1000,1100 --rounds 10");
    assert_eq!(said.status, 0, "{said:?}");
    world
}

fn compare(world: &World, operands: &[&str]) -> Said {
    let mut words = vec!["compare", "--format", "json"];
    words.extend(operands);
    world.run_words(&words)
}

#[test]
fn exact_ratio_verdict_and_gate() {
    let world = measured();
    let said = compare(&world, &["thread/honest", "thread/honest ticks=1100"]);
    assert_eq!(said.status, 0, "{said:?}");
    let row = &said.json()["comparisons"][0];
    for (field, expected) in [("ratio", 1.1), ("low", 1.1), ("high", 1.1), ("confidence", 0.95), ("noise_floor", 0.0)] {
        assert_eq!(row[field], expected, "{field}");
    }
    assert_eq!((&row["verdict"], &row["paired"]), (&"slower".into(), &true.into()));
    assert_eq!(row["counts"][0], 10, "{row}");
    assert_eq!(row["phrase"], "10 % slower");
    let gate = |a: &str, b: &str, limit: &str| compare(&world, &[a, b, "--gate", limit]);
    let (base, slow) = ("thread/honest", "thread/honest ticks=1100");
    assert_eq!((gate(base, slow, "5%").status, gate(base, slow, "15%").status), (1, 0));
    assert_eq!((gate(slow, base, "5%").status, gate(base, base, "5%").status), (0, 2));
    assert_eq!(gate(slow, base, "5%").json()["comparisons"][0]["verdict"], "faster");
    let help = world.run("compare --help").out;
    assert!(help.contains("--gate") && help.contains("1 a gate failed"), "{help}");
}

#[test]
fn a_twin_is_the_same_and_not_in_the_way() {
    let world = measured();
    let all = compare(&world, &["thread/honest", "thread/*"]).json();
    assert_eq!(all["comparisons"].as_array().unwrap().len(), 1, "the A/A twin is not a row of its own: {all}");
    let twin =
        ["thread/honest (A/A)", "thread/honest ticks=1100 (A/A)"].map(|twin| compare(&world, &[twin, "thread/honest"]));
    let found = twin.iter().find(|said| said.status == 0).expect("one of them has a twin");
    assert!(["same", "faster"].contains(&found.json()["comparisons"][0]["verdict"].as_str().unwrap()));
}

#[test]
fn two_runs_and_files_by_their_common_rows() {
    let world = measured();
    let file = world.forged("first", str::to_owned);
    assert_eq!(world.run("run thread/honest thread/blind --rounds 10").status, 0);
    for first in ["latest~1", file.as_str()] {
        let said = compare(&world, &[first, "latest"]);
        assert_eq!(said.status, 0, "{said:?}");
        let json = said.json();
        let row = &json["comparisons"][0];
        assert_eq!(
            (&row["b"]["label"], &row["ratio"], &row["paired"]),
            (&"thread/honest".into(), &1.0.into(), &false.into())
        );
        assert_eq!((&row["verdict"], &row["within"]), (&"same".into(), &0.03.into()), "{row}");
        let (notes, unmatched) = (json["notes"].to_string(), json["unmatched"].to_string());
        assert!(notes.contains("Two runs"), "{notes}");
        assert!(unmatched.contains("ticks=1100") && unmatched.contains("thread/blind"), "{unmatched}");
        let text = world.run_words(&["compare", first, "latest"]).out;
        assert!(text.starts_with("B against A: a switch") && text.contains(" · 2 not compared\n  only"), "{text}");
    }
    let across = compare(&world, &["latest~1:thread/honest ticks=1100", "latest:thread/honest", "--gate", "5%"]);
    let found = across.json()["comparisons"][0].clone();
    assert_eq!((across.status, &found["verdict"]), (0, &"faster".into()), "{across:?}");
    let earlier = compare(&world, &["latest~1:thread/honest", "latest~1:thread/honest ticks=1100"]);
    assert_eq!(earlier.json()["comparisons"][0]["ratio"], 1.1);
}

#[test]
fn published_figures_stand_beside_without_a_verdict() {
    let world = measured();
    let said = compare(&world, &["thread/honest", "published:bendersky-pinned", "--gate", "1%"]);
    assert_eq!((said.status, &said.json()["gate"]["reason"]), (7, &"no row is compared".into()), "{said:?}");
    let json = said.json();
    assert_eq!((&json["comparisons"], &json["published"][0]["low"]), (&serde_json::json!([]), &1200.0.into()));
    assert_eq!(json["references"][0]["median"], 1000.0);
    let text = world.run("compare thread/honest published:bendersky-pinned").out;
    for word in ["1,200 – 1,500 ns per switch", "i7-4771", "2018", "no verdict", "but: known second hand"] {
        assert!(text.contains(word), "{word} is missing in {text}");
    }
    // What a source gives as "less than" is not shown as a figure of its own.
    let bound = compare(&world, &["thread/honest", "published:switchto"]).json();
    assert_eq!(bound["published"][0]["upper_bound"], true);
    assert!(bound["published"][0]["caveat"].as_str().unwrap().contains("without a method"));
    assert!(world.run("compare thread/honest published:switchto").out.contains("below 200 ns per switch"));
}

#[test]
fn noise_hides_what_it_can_hide() {
    let world = World::new(FAKE);
    assert_eq!(world.run("run thread/honest thread/spread --rounds 10 --seed 3").status, 0);
    let row = compare(&world, &["thread/honest", "thread/spread"]).json()["comparisons"][0].clone();
    assert!(row["smallest_detectable"].as_f64().unwrap() > 0.1, "{row}");
    assert!(row["low"].as_f64() < row["high"].as_f64());
    assert_eq!(world.run("run thread/honest --param ticks=1000,1100 --rounds 4").status, 0);
    let few = compare(&world, &["thread/honest", "thread/honest ticks=1100"]).json()["comparisons"][0].clone();
    assert_eq!((&few["verdict"], &few["low"]), (&"cannot_tell".into(), &serde_json::Value::Null));
    assert!(few["reason"].as_str().unwrap().contains("4 paired runs; a verdict needs 6"), "{few}");
}

#[test]
fn an_unstable_run_bears_no_verdict() {
    let world = measured();
    // The twin becomes one of the other row: 10 % apart, round after round.
    let twin_ticks = if world.run("export").out.contains(r#""ticks":"1000"},"label":"A/A""#) { "1000" } else { "1100" };
    let other_ticks = if twin_ticks == "1000" { "1100" } else { "1000" };
    let file = world.forged("unstable", |text| {
        let (was, is) = (
            format!(r#""ticks":"{twin_ticks}"}},"label":"A/A""#),
            format!(r#""ticks":"{other_ticks}"}},"label":"A/A""#),
        );
        assert!(text.contains(&was), "{text}");
        // Also the probe's echo of the plan: what contradicts itself would not be believed.
        let twin =
            text.lines().find(|line| line.contains(&was)).and_then(|line| line.split("\"index\":").nth(1)).unwrap();
        let twin = format!("{{\"t\":\"invocation\",\"variant\":{},", twin.split(',').next().unwrap());
        let echoed = |line: &str| {
            let (was, is) = (format!(r#""ticks":"{twin_ticks}""#), format!(r#""ticks":"{other_ticks}""#));
            if line.starts_with(&twin) { line.replace(&was, &is) } else { line.to_owned() }
        };
        text.replace(&was, &is).lines().map(|line| echoed(line) + "\n").collect()
    });
    let operands = [format!("{file}:thread/honest"), format!("{file}:thread/honest ticks=1100")];
    let refused = compare(&world, &[&operands[0], &operands[1], "--gate", "5%"]);
    assert_eq!(refused.status, 7, "{refused:?}");
    let json = refused.json();
    assert!(json["refused"][0].as_str().unwrap().contains("unstable"), "{json}");
    assert_eq!(
        (&json["comparisons"][0]["verdict"], &json["gate"]["outcome"]),
        (&serde_json::Value::Null, &"inconclusive".into())
    );
    let forced = compare(&world, &[&operands[0], &operands[1], "--force"]);
    assert_eq!(forced.status, 0, "{forced:?}");
    assert!(
        forced.json()["comparisons"][0]["verdict"].is_string()
            && forced.json()["notes"].to_string().contains("unstable")
    );
}

#[test]
fn other_methods_are_refused_unless_forced() {
    let world = measured();
    let version = world.run("export --private-facts --format json").json()["run"]["method_version"].as_u64().unwrap();
    let file = world.forged("old", |text| {
        let field = |version: u64| format!(r#""method_version":{version}"#);
        text.replace(&field(version), &field(version + 1))
    });
    compare(&world, &[&file, "latest"]).refuses(2, &["version", "method", "--force"]);
    assert_eq!(compare(&world, &[&file, "latest", "--force"]).status, 0);
}

#[test]
fn bad_input_is_one_sentence() {
    let world = measured();
    assert_eq!(world.run("run thread/honest thread/liar thread/garbage --rounds 6").status, 5);
    let refuses = |operands: &[&str], words: &[&str]| compare(&world, operands).refuses(2, words);
    refuses(&["thread/honest"], &["needs something"]);
    refuses(&["latest", "latest"], &["same run"]);
    refuses(&["latest", "thread/honest"], &["names 3 rows"]);
    refuses(&["thread/honest", "thread/honset"], &["no row `thread/honset`", "did you mean `thread/honest`"]);
    refuses(&["thread/honest", "zzz/zzz"], &["no row `zzz/zzz`", "thread/liar"]);
    refuses(&["thread/honest", "honset"], &["`honset` is neither a run, a file nor a mechanism", "`thread/honest`"]);
    refuses(&["thread/honest", "honest"], &["both mean thread/honest"]);
    refuses(&["thread/honest", "thread/liar"], &["contradicts"]);
    refuses(&["thread/honest", "thread/garbage"], &["broken"]);
    refuses(&["1999", "latest"], &["1999"]);
    refuses(&["thread/honest", "/nowhere.jsonl"], &["/nowhere.jsonl"]);
    refuses(&["thread/honest", "published:nobody"], &["nobody"]);
    refuses(&["published:bendersky-pinned", "thread/honest"], &["not a reference"]);
    refuses(&["thread/honest", "latest~1:thread/honest", "--gate", "x"], &["--gate", "percentage"]);
    refuses(&["thread/honest", "latest~1:thread/honest", "--threshold", "nan"], &["--threshold"]);
    refuses(
        &["thread/honest", "latest~1:thread/honest", "--gate", "1%", "--threshold", "2%"],
        &["--gate", "--threshold"],
    );
    let exported = world.run("export").out;
    world.write("cut.jsonl", &exported[..exported.len() / 2]);
    refuses(&["latest", world.path("cut.jsonl").to_str().unwrap()], &["cut.jsonl"]);
    assert_eq!(world.run("run thread/honest --param ticks=1000,1100 --rounds 1").status, 0);
    let one = compare(&world, &["latest:thread/honest", "latest:thread/honest ticks=1100"]);
    let row = &one.json()["comparisons"][0];
    assert_eq!((one.status, &row["ratio"], &row["verdict"]), (0, &1.1.into(), &"cannot_tell".into()), "{one:?}");
    assert_eq!(world.run("run thread/blind thread/noise --rounds 6").status, 0);
    refuses(&["latest~1", "latest"], &["no common mechanism", "thread/honest", "thread/blind"]);
    assert_eq!(world.run("run thread/honest --placement free --contexts 2,4 --rounds 6").status, 0);
    refuses(&["thread/honest", "thread/honest contexts=4"], &["fits 2 rows", "contexts=4"]);
}

#[test]
fn measured_now_and_judged() {
    let world = World::new(FAKE);
    let measure = |operands: &[&str]| compare(&world, &[&["--measure", "--rounds", "8"], operands].concat());
    let said = measure(&["thread/honest", "thread/honest ticks=1100", "--gate", "5%"]);
    assert_eq!(said.status, 1, "{said:?}");
    let row = said.json()["comparisons"][0].clone();
    assert_eq!((&row["verdict"], &row["ratio"], &row["paired"]), (&"slower".into(), &1.1.into(), &true.into()));
    assert_eq!((&row["counts"][0], &row["noise_floor"]), (&8.into(), &0.0.into()), "{row}");
    // The run is stored and can be asked again.
    let again = compare(&world, &["thread/honest", "thread/honest ticks=1100"]);
    assert_eq!((again.status, &again.json()["comparisons"][0]["a"]["run"]), (0, &row["a"]["run"]), "{again:?}");
    let placed = measure(&["thread/honest free", "thread/honest one_cpu"]);
    assert_eq!(placed.json()["comparisons"][0]["a"]["label"], "thread/honest free", "{placed:?}");
    let several = measure(&["thread/honest", "thread/blind", "published:bendersky-pinned"]).json();
    assert_eq!(
        (several["comparisons"].as_array().unwrap().len(), &several["published"][0]["low"]),
        (1, &1200.0.into())
    );
    let same = measure(&["thread/honest", "thread/honest"]).json();
    assert_eq!(
        (&same["comparisons"][0]["b"]["label"], &same["comparisons"][0]["verdict"]),
        (&"thread/honest (A/A)".into(), &"same".into())
    );
    measure(&["thread/honest", "thread/honest upside_down"]).refuses(2, &["`upside_down`", "placement"]);
    measure(&["thread/honest", "thread/honest depth=3"]).refuses(2, &["depth"]);
    // What would be found at the end is found before: units and experiments stand in the pages.
    let kept = world.run("history").out;
    let trips = mechanism("").replace("title", "unit = \"round trip\"\ntitle");
    world.write("share/switchcost/mechanisms/thread/spread.toml", &trips);
    measure(&["thread/honest", "thread/spread"]).refuses(2, &["thread/spread", "round trip", "switch"]);
    assert_eq!(world.run("history").out, kept, "nothing was measured");
    measure(&["thread/honest", "thread/nobody"]).refuses(2, &["thread/nobody"]);
    measure(&["thread/honest", "thread/absent"]).refuses(3, &["thread/absent", "cannot be measured"]);
    measure(&["thread/honest", "thread/liar"]).refuses(5, &["thread/liar", "contradicted"]);
    // A newer run without figures of both hides none, and a name that means one of several asks of
    // that one.
    let few = world.run_words(&["run", "thread/honest", "thread/honest ticks=1100", "--rounds", "1"]);
    assert_eq!(few.status, 0, "{few:?}");
    assert!(world.run("show thread/honest").out.contains("Too few process runs"), "show shows the newest");
    let known = compare(&world, &["thread/honest", "thread/honest ticks=1100"]);
    assert_eq!(known.json()["comparisons"][0]["counts"][0], 8, "{known:?}");
    let named = measure(&["honest", "thread/blind"]);
    assert_eq!(
        (named.status, &named.json()["comparisons"][0]["a"]["label"]),
        (0, &"thread/honest".into()),
        "{named:?}"
    );
    for option in ["--rounds", "--seed"] {
        compare(&world, &["latest:thread/honest", "thread/blind", option, "9"]).refuses(2, &[option, "--measure"]);
    }
}

#[test]
fn the_json_of_comparisons_fits_its_schema() {
    let world = measured();
    let schema = std::fs::read_to_string(switchcost_e2e::repository().join("docs/compare.schema.json")).unwrap();
    let schema: serde_json::Value = serde_json::from_str(&schema).unwrap();
    for operands in [
        &["thread/honest", "thread/honest ticks=1100", "--gate", "5%"][..],
        &["thread/honest", "published:bendersky-pinned"],
        &["thread/honest", "thread/*"],
    ] {
        jsonschema::validate(&schema, &compare(&world, operands).json()).unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn ticks_that_cannot_be_are_refused() {
    let world = measured();
    for (name, ticks) in [("negative", "-40000"), ("zero", "0")] {
        let file = world
            .forged(name, |text| text.replace(",40000", &format!(",{ticks}")).replace("[40000", &format!("[{ticks}")));
        let operands = [format!("{file}:thread/honest"), format!("{file}:thread/honest ticks=1100")];
        compare(&world, &[&operands[0], &operands[1]]).refuses(2, &["thread/honest", "no verdict", "one clock cycle"]);
    }
}

/// Other machines and too few starts bound every word that follows.
#[test]
fn what_bounds_every_word_stands_in_the_first_line() {
    let world = measured();
    let other = world.forged("other", |body| {
        body.replacen("\"id\":\"", "\"id\":\"other-", 1).replacen("\"cpu.logical\":\"", "\"cpu.logical\":\"9", 1)
    });
    let first = |operands: &[&str]| {
        let said = world.run_words(&[&["compare"], operands].concat());
        said.out.lines().next().unwrap_or(&said.err).to_owned()
    };
    assert!(
        first(&["latest", &other]).starts_with("The runs are of different machines"),
        "{}",
        first(&["latest", &other])
    );
    assert!(first(&["thread/honest", "thread/honest ticks=1100"]).starts_with("thread/honest ticks=1100 against"));
    assert_eq!(world.run("run thread/honest --rounds 2").status, 0);
    let few = first(&["latest~1", "latest"]);
    assert!(few.starts_with("Too few starts for a verdict: it takes 6 on each side."), "{few}");
    let said = compare(&world, &["latest~1", "latest", "--gate", "5%"]);
    let gate = &said.json()["gate"];
    assert!(
        said.status == 7 && gate["starts"] == 6 && gate["reason"].as_str().unwrap().contains("--rounds 6"),
        "{gate}"
    );
}

/// A ratio between two processors does not show a regression: the gate is left open, and each
/// format says why.
#[test]
fn a_gate_decides_nothing_between_two_kinds_of_hardware() {
    let world = measured();
    let other = world.forged("other", |body| {
        let body = body.replacen("\"id\":\"", "\"id\":\"other-", 1).replacen("40000", "80000", 1);
        body.replacen("\"cpu.logical\":\"", "\"cpu.logical\":\"9", 1)
    });
    let gate = |words: &str| world.run(&format!("compare latest {other} --gate 5% {words}"));
    let said = gate("--format json");
    let json = said.json();
    assert_eq!((said.status, &json["gate"]["outcome"]), (7, &"inconclusive".into()), "{json}");
    assert!(json["gate"]["reason"].as_str().unwrap().starts_with("other hardware (cpu.logical: "), "{json}");
    assert_eq!(
        (&json["differences"][0]["fact"], &json["differences"][0]["hardware"]),
        (&"cpu.logical".into(), &true.into())
    );
    let junit = gate("--format junit").out;
    let accused = junit.lines().find(|line| line.contains("<error message=\"INCONCLUSIVE")).unwrap_or(&junit);
    assert!(
        accused.contains("different machines") && junit.contains("<system-out>The runs are of different"),
        "{junit}"
    );
    let forced = gate("--force --format json");
    assert!(forced.status != 7 && forced.json()["cautions"][0].as_str().unwrap().contains("cpu.logical"), "{forced:?}");
}

/// Under Rosetta or qemu-user a clock times the translator.
#[test]
fn a_translated_program_has_no_times() {
    let world = measured();
    let file = world.forged("translated", |text| {
        assert!(text.contains("\"cpu.translated\":\"none\""), "{text}");
        // What a model computes stays.
        let timed = text.replace("\"name\":\"simulated\"", "\"name\":\"monotonic\"");
        timed.replacen("\"cpu.translated\":\"none\"", "\"cpu.translated\":\"aarch64\"", 1)
    });
    let said = world.run(&format!("show {file}"));
    assert!(said.status == 0 && said.words().contains("translated for aarch64"), "{said:?}");
    assert!(!said.out.contains(" µs") && !said.out.contains(" ns"), "{said:?}");
    world.run(&format!("compare latest {file}")).refuses(2, &["translated"]);
}

/// The kept ladder and a copy of it that another version made an hour later, with as many rounds as
/// are asked for.
fn ladders(world: &World, rounds: u64) -> [String; 2] {
    let ladder = repository().join("data/example/ladder.jsonl");
    let text = std::fs::read_to_string(&ladder).unwrap();
    let (body, _) = text.trim_end().rsplit_once('\n').unwrap();
    let kept = |line: &&str| {
        let round = line.split("\"round\":").nth(1).and_then(|rest| rest.split(',').next());
        !line.starts_with("{\"t\":\"invocation\"") || round.unwrap().parse::<u64>().unwrap() < rounds
    };
    let lines: Vec<&str> = body.lines().filter(kept).collect();
    let header = with(&with(lines[0], "\"id\":\"", "20270101T000000-0000"), "\"tool_version\":\"", "0.0.9");
    let changed = [&[header.as_str()], &lines[1..]].concat().join("\n");
    world.write("copy.jsonl", &sealed(&(changed + "\n")));
    [ladder, world.path("copy.jsonl")].map(|path| path.display().to_string())
}

#[test]
fn rows_with_modes_have_no_single_figure_and_a_ratio_mode_by_mode() {
    let world = World::new(FAKE);
    assert_eq!(world.run("run thread/honest --param ticks=1000 --rounds 12").status, 0);
    let a = world.forged("a", two_kinds);
    // Beside a row with the same modes it is compared mode by mode.
    let alike = world.forged("alike", |text| two_kinds(&with(text, "\"id\":\"", "20270101T000000-0000")));
    let same = compare(&world, &[&a, &alike]).json()["comparisons"][0].clone();
    assert_eq!((&same["verdict"], &same["ratio"]), (&"same".into(), &1.0.into()), "{same}");
    let b = world.forged("b", |text| with(text, "\"id\":\"", "20270102T000000-0000"));
    let said = compare(&world, &[&a, &b]);
    assert_eq!(said.status, 0, "{said:?}");
    let row = &said.json()["comparisons"][0];
    for field in ["ratio", "low", "high"] {
        assert!(row[field].is_null(), "{field}: {row}");
    }
    assert!(row["a"]["median"].is_null() && row["a"]["modes"].as_array().unwrap().len() == 2, "{row}");
    assert_eq!((&row["verdict"], &row["phrase"]), (&"cannot_tell".into(), &"no single ratio".into()));
    let said = world.run_words(&["compare", &a, &b]);
    assert!(said.out.contains("500 ns (50 %) or 1.00 µs"), "{said:?}");
    // Of a row that no difference can be told of, nothing is said of how small it must be.
    assert!(!said.out.contains("noise floor"), "{said:?}");
    // Beside one that both modes lie below it is slower, by no single ratio.
    let far = world.forged("far", |text| {
        let text = with(text, "\"id\":\"", "20270103T000000-0000");
        text.lines()
            .map(|line| if line.contains("invocation") { scaled(line, 4.0) } else { line.to_owned() } + "\n")
            .collect()
    });
    let row = compare(&world, &[&a, &far]).json()["comparisons"][0].clone();
    assert_eq!((&row["verdict"], &row["phrase"]), (&"slower".into(), &"4.00 to 8.00 times slower".into()), "{row}");
    let end = |name: &str| row[name].as_f64().unwrap();
    assert!(row["ratio"].is_null() && end("low") <= 4.0 && end("high") >= 8.0, "{row}");
    let said = world.run_words(&["compare", &far, &a]);
    assert!(said.out.contains("a switch is 4.00 to 8.00 times faster"), "{said:?}");
}

#[test]
fn a_budget_that_ends_the_rounds_is_an_answer_of_what_there_is() {
    let world = World::new(FAKE);
    let said = switchcost_e2e::in_time(|times| {
        let budget = format!("{}s", 2 * times);
        let words = ["--measure", "thread/honest", "thread/honest ticks=1100", "--rounds", "100000", "--budget"];
        compare(&world, &[&words[..], &[budget.as_str()]].concat()).once_asked().filter(|said| !said.out.is_empty())
    });
    assert_eq!(said.status, 4, "{said:?}");
    assert!(said.json()["notes"].to_string().contains("budget ended before all rounds"), "{said:?}");
}

/// What others take depends on how a row waits: rounds do not cancel it, on one CPU as on two.
#[test]
fn rows_bear_no_verdict_where_others_were_beside_one() {
    let world = World::new(FAKE);
    let said = world.run("run thread/honest --param ticks=1000,1300 --placement free,one_cpu --rounds 10");
    assert_eq!(said.status, 0, "{said:?}");
    let others = r#""disturbances":[{"kind":"foreign_cpu","ns":400000000,"of_ns":800000000}]"#;
    let free = |line: &str| line.contains(r#""t":"invocation""#) && line.contains(r#""cpus":[]"#);
    let busy = world.forged("busy", |text| {
        let text = with(text, "\"id\":\"", "20270101T000000-0000");
        let changed =
            |line: &str| if free(line) { line.replace(r#""disturbances":[]"#, others) } else { line.to_owned() };
        text.lines().map(|line| changed(line) + "\n").collect()
    });
    assert!(std::fs::read_to_string(&busy).unwrap().matches(others).count() >= 20, "the test needs such starts");
    let judged = |run: &str, a: &str, b: &str| {
        let row = compare(&world, &[&format!("{run}:{a}"), b]).json()["comparisons"][0].clone();
        row["verdict"].as_str().unwrap_or_default().to_owned()
    };
    let (base, slow) = ("thread/honest one_cpu ticks=1000", "thread/honest free ticks=1300");
    for base in [base, "thread/honest free ticks=1000"] {
        assert_eq!([judged("latest", base, slow), judged(&busy, base, slow)], ["slower", "cannot_tell"]);
    }
}

/// What bounds a comparison stands in every form of it.
#[test]
fn cautions_stand_in_the_json() {
    let world = World::new(FAKE);
    let [a, b] = ladders(&world, 3);
    let cautions = compare(&world, &[&a, &b]).json()["cautions"].to_string();
    assert!(cautions.contains("different versions of switchcost") && cautions.contains("Too few starts"), "{cautions}");
}

#[test]
fn a_reason_that_many_rows_share_is_said_once() {
    let world = World::new(FAKE);
    let [a, b] = ladders(&world, 1);
    let said = world.run_words(&["compare", &a, &b]);
    assert_eq!(said.status, 0, "{said:?}");
    assert_eq!(said.words().matches("Too few starts for a verdict").count(), 1, "{said:?}");
    assert_eq!(world.run("run thread/honest thread/liar thread/blind --rounds 6").status, 5);
    let nothing = world.run_words(&["compare", "thread/liar", "thread/*"]);
    nothing.refuses(
        2,
        &["nothing of `thread/liar` and `thread/*` can be compared: `thread/blind`, `thread/honest`: A has"],
    );
    assert_eq!(nothing.err.matches("contradicts its claim").count(), 1, "{nothing:?}");
}

/// Many comparisons at once make an interval wider; they change no ratio.
#[test]
fn a_pair_has_one_ratio_however_many_are_asked_with_it() {
    let world = World::new(FAKE);
    let [ladder, _] = ladders(&world, u64::MAX);
    let row = |words: &str| format!("{ladder}:{words}");
    let many = compare(&world, &[&row("thread/condvar"), &row("stack/*"), &row("thread/*")]).json();
    for one in many["comparisons"].as_array().unwrap() {
        let label = one["b"]["label"].as_str().unwrap();
        let alone = compare(&world, &[&row("thread/condvar"), &row(label)]).json();
        assert_eq!(alone["comparisons"][0]["ratio"], one["ratio"], "{label}");
    }
    assert!(many["comparisons"].as_array().unwrap().iter().any(|one| one["paired"] == false), "{many}");
}
