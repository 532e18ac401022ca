//! `classic`: argument checks and tables, through the fake probe with scripted ticks; and each
//! program once with the real ones.

use serde_json::Value;
use switchcost_e2e::{Real, World};

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

/// A program like those of the write-ups, whose mechanism costs what the fake is told: 1234 ticks
/// of 1 ns per unit.
const PROGRAM: &str = r#"
title = "A ring"
source = "a write-up"
explains = "prints totals"
usage = """
Usage:
    ring [ <N> [M] ]
  <N> must be in the range [2, 10] (inclusive) - defaults to 4
"""
rounds = 6
columns = [
    { heading = "all, ns", value = "work_ns" },
    { heading = "all, ms", value = "work_ms" },
    { heading = "ns / switch", value = "unit_ns" },
    { heading = "per second", value = "per_second" },
    { heading = "voluntary", value = "voluntary" },
    { heading = "involuntary", value = "involuntary" },
    { heading = "row, us", value = "fastest_batch_us" },
    { heading = "us/switch", value = "fastest_unit_us" },
    { heading = "cycles", value = "ticks" },
]
differences = ["The original does it otherwise."]

[[argument]]
name = "n"
min = 2
max = 10
default = 4

[[argument]]
name = "m"
min = 3
max = 1000000
default = 30000

[[row]]
mechanism = "thread/honest"
contexts = "n"
placement = "free"
parameters = { ticks = "1234" }
work = "n * m"
article = { column = "ns / switch", says = "28788.3", unit = "ns / switch", on = "another machine" }

[[row]]
mechanism = "thread/honest"
contexts = "n"
placement = "one_cpu"
parameters = { ticks = "1234" }
work = "n * m"
batches = 10
batch_units = 2000
label = "2000 in a row"

[[row]]
mechanism = "thread/nowhere"
placement = "one_cpu"
work = "1"

[[row]]
mechanism = "thread/noise"
placement = "one_cpu"
every_probe = true
parameters = { ticks = "5000" }
work = "90000"

[[known]]
on = "another machine"
printed = "28788.3 ns / switch"
"#;

fn world() -> World {
    let world = World::new(FAKE);
    world.write("share/switchcost/classic/ring.toml", PROGRAM);
    world
}

/// The cells of the Markdown row that begins with these words, or of the first one.
fn row<'a>(page: &'a str, label: &str) -> Vec<&'a str> {
    let line = page.lines().find(|line| line.trim_start_matches(['|', ' ']).starts_with(label));
    line.unwrap_or_else(|| panic!("no {label} in {page}")).trim_matches('|').split('|').map(str::trim).collect()
}

#[test]
fn each_row_has_what_the_original_prints_beside_our_figure() {
    let world = world();
    let said = world.run("classic all");
    assert_eq!(said.status, 0, "{said:?}");
    let head = row(&said.out, "all, ns");
    assert_eq!(head[1..4], ["all, ns", "all, ms", "ns / switch"]);
    assert_eq!(head[10..], ["ours", "±"]);
    let free = row(&said.out, "thread/honest contexts=4 ticks=1234 free");
    let expected = ["148,080,000", "148", "1,234", "810,373", "120,000", "0"];
    assert_eq!(free[1..7], expected, "{free:?}");
    assert_eq!(free[9..], ["–", "1.23 µs", "0.00 %"]);
    assert_eq!(row(&said.out, "thread/honest contexts=4 ticks=1234 (2000 in a row)")[7..9], ["2,468", "1.23"]);
    assert_eq!(row(&said.out, "thread/noise")[2], "450");
    for words in [
        "## `ring 4 30000`\n\nA ring (a write-up). Here 1,234 ns / switch (thread/honest contexts=4 ticks=1234 free); the article says 28788.3 (another machine). Here one switch takes from 1.23 µs ±0.00 % (thread/honest contexts=4 ticks=1234 free) to 5.00 µs ±",
        "**Not verified**\n\n- thread/nowhere is not described in this installation\n",
        "**Why the original differs**\n\n- The original does it otherwise.\n",
        "- another machine: 28788.3 ns / switch\n",
    ] {
        assert!(said.out.contains(words), "{words} is missing in {}", said.out);
    }
    let text = world.run("classic ring 4 30000").out;
    let plain = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(plain.starts_with("Here 1,234 ns / switch (thread/honest contexts=4 ticks=1234 free); the article says 28788.3 (another machine). Here one switch takes from 1.23 µs "), "{text}");
    assert!(text.contains("148,080,000"), "{text}");
    assert!(text.contains("\nring 4 30000: A ring (a write-up).\nrun ") && text.lines().count() <= 25, "{text}");
}

#[test]
fn its_json_is_that_of_its_run() {
    let world = world();
    let schema = std::fs::read_to_string(switchcost_e2e::repository().join("docs/results.schema.json")).unwrap();
    let validator = jsonschema::validator_for(&serde_json::from_str(&schema).unwrap()).unwrap();
    let one = world.run("classic ring --format json").json();
    assert_eq!(one, world.run("export --private-facts --format json").json());
    world.write("share/switchcost/classic/second.toml", PROGRAM);
    let all = world.run("classic all --rounds 1 --format json").json();
    let all = all.as_array().unwrap();
    assert_eq!(all.len(), 2);
    assert!(all.iter().chain([&one]).all(|run| validator.is_valid(run)));
}

#[test]
fn the_work_is_the_original_s_and_the_run_is_kept() {
    let world = world();
    let said = world.run("classic ring 3 20000 --placement free --format json");
    assert_eq!(said.status, 0, "{said:?}");
    let kept = world.run("export --private-facts --format json").json();
    assert_eq!(kept, said.json());
    assert_eq!(kept["run"]["command"].as_array().unwrap()[1..4], ["classic", "ring", "3"].map(Value::from));
    let free = &kept["results"][0];
    assert_eq!((&free["placement"], &free["contexts"]), (&"free".into(), &3.into()));
    // 60 000 units over 6 rounds of 30 batches: 334 each. Evidence also covers warm-up.
    let exported = world.run("export").out;
    let units: Vec<u64> = exported
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|line| line["t"] == "invocation")
        .map(|line| line["plan"]["batch_units"].as_u64().unwrap())
        .collect();
    assert!(units.len() >= 6 && units.iter().all(|&k| k == 334), "{units:?}");
    let placements = kept["results"].as_array().unwrap().iter().filter(|row| row["mechanism"] == "thread/honest");
    assert!(placements.clone().count() > 0 && placements.clone().all(|row| row["placement"] == "free"), "{said:?}");
}

#[test]
fn rows_of_different_length_are_rows_of_their_own() {
    let world = world();
    let rows = world.run("classic ring --format json").json()["results"].as_array().unwrap().clone();
    let labels: Vec<&str> = rows.iter().map(|row| row["label"].as_str().unwrap()).collect();
    assert!(labels.iter().any(|label| label.ends_with("(2000 in a row)")), "{labels:?}");
    assert!(labels.iter().all(|label| !label.contains("A/A")), "{labels:?}");
}

#[test]
fn arguments_are_refused_as_the_original_refuses_them() {
    let world = world();
    for arguments in ["1", "11", "0", "-3", "x", "4x", "4 2", "4 1000001", "4 99999999999999999999", "4 3 5"] {
        let said = world.run(&format!("classic ring {arguments}"));
        assert_eq!((said.status, said.err.as_str()), (1, ""), "{arguments}: {said:?}");
        assert!(said.out.contains("in the range [2, 10] (inclusive)"), "{arguments}: {said:?}");
    }
    assert!(!world.store().exists(), "something was measured");
    let refuses = |arguments: &str, words: &[&str]| world.run(arguments).refuses(2, words);
    refuses("classic rong", &["there is no program `rong`", "ring"]);
    refuses("classic Ring", &["there is no program `Ring` (did you mean `ring`?)"]);
    refuses("classic all 4", &["takes no arguments"]);
    refuses("classic ring --placement two_cpus", &["--placement", "free"]);
}

#[test]
fn a_program_without_arguments_says_that_it_ignores_them() {
    let world = world();
    let text = PROGRAM.replace("usage = \"\"\"", "explains2 = \"\"\"");
    world.write("share/switchcost/classic/odd.toml", &text);
    world.run("classic").refuses(2, &["odd.toml", "explains2"]);
    let (head, tail) = PROGRAM.split_once("usage = \"\"\"").unwrap();
    let tail = tail.split_once("\"\"\"").unwrap().1;
    let (columns, rows) = tail.split_once("[[argument]]").unwrap();
    let rows = rows.split_once("[[row]]").unwrap().1;
    let text = format!("{head}{columns}[[row]]{rows}").replace("\"n * m\"", "\"60000\"").replace("\"n\"", "\"2\"");
    world.write("share/switchcost/classic/odd.toml", &text);
    let said = world.run("classic odd 7");
    assert_eq!(said.status, 0, "{said:?}");
    assert!(said.out.contains("The arguments were ignored"), "{said:?}");
}

#[test]
fn all_programs_make_one_page() {
    let world = world();
    world.write("share/switchcost/classic/second.toml", PROGRAM);
    let said = world.run("classic all");
    assert_eq!(said.status, 0, "{said:?}");
    for words in ["# The programs", "\n## `ring 4 30000`", "\n## `second 4 30000`", "| all, ms "] {
        assert!(said.out.contains(words), "{words} is missing in {}", said.out);
    }
    assert_eq!(world.run("history --format json").json()["runs"].as_array().unwrap().len(), 2);
    let listed = world.run("classic").out;
    assert!(listed.contains("\na write-up\n  ring N M: A ring\n  second N M: A ring\n"), "{listed}");
    assert!(world.run("classic -v").out.contains("n: 2 to 10, default 4"), "{listed}");
}

#[test]
fn a_program_that_means_nothing_is_named() {
    let world = world();
    for (right, wrong, words) in [("work_ns", "work_nn", "work_nn"), ("\"n * m\"", "\"n * k\"", "`k` in `n * k`")] {
        world.write("share/switchcost/classic/ring.toml", &PROGRAM.replace(right, wrong));
        world.run("classic ring").refuses(2, &["ring.toml", words]);
    }
}

/// What each original calls its values.
const FORMS: &[(&str, &[&str])] = &[
    ("testFiber 2 300", &["Average Time Difference, cycles", "compensated, cycles"]),
    ("testThread 3 100", &["Average Time Difference, cycles", "compensated, cycles"]),
    ("thread-switch-pipe", &["ns / switch", "voluntary switches"]),
    ("thread-switch-condvar", &["ns / switch", "involuntary switches"]),
    ("thread-pipe-msgpersec", &["iters/sec"]),
    ("context_switch", &["microseconds total", "microseconds/switch"]),
    ("pingpang", &["compiler", "ms"]),
    ("createalot", &["compiler", "ms"]),
    ("goroutine", &["ms for a million exchanges", "ns per switch"]),
];

#[test]
fn every_program_answers_in_its_form() {
    let Some(real) = Real::new(FAKE) else { return };
    let listed = real.run("classic").out;
    for (program, labels) in FORMS {
        let name = program.split(' ').next().unwrap();
        assert!(
            listed.lines().any(|line| line.trim_start().split([' ', ':']).next() == Some(name)),
            "{name} is not listed"
        );
        let said = real.run(&format!("classic {program} --placement one_cpu,free --rounds 1 --budget 120s"));
        assert!([0, 3, 4].contains(&said.status), "{program}: {said:?}");
        let words: Vec<&str> = labels.iter().flat_map(|label| label.split(' ')).collect();
        assert!(words.iter().all(|word| said.out.contains(word)), "{program}: {said:?}");
        let shown = real.run("export --private-facts --format json").json();
        for row in shown["results"].as_array().unwrap() {
            let fine = ["verified", "unobservable", "unsupported"].contains(&row["verdict"].as_str().unwrap());
            assert!(fine, "{program}: {row}");
        }
    }
}

#[test]
fn every_program_takes_or_refuses_arguments_as_the_original_does() {
    let Some(real) = Real::new(FAKE) else { return };
    let ranged = ["testFiber", "testThread"];
    for (program, _) in FORMS {
        let name = program.split(' ').next().unwrap();
        if !ranged.contains(&name) {
            // The original never looks at its arguments: neither do we, and say so.
            // What it measures does not matter here: the budget is gone before much is.
            let said = real.run(&format!("classic {name} -1 abc 99999999999999999999 --rounds 1 --budget 100ms"));
            assert!([0, 3, 4].contains(&said.status), "{name}: {said:?}");
            assert!(said.out.contains("The arguments were ignored"), "{name}: {said:?}");
            continue;
        }
        for arguments in ["1", "1001", "0", "-1", "2 2", "2 500000001", "2 -3", "two", "2 two", "4x", "2 3 4"] {
            let said = real.run(&format!("classic {name} {arguments}"));
            assert_eq!((said.status, said.err.as_str()), (1, ""), "{name} {arguments}: {said:?}");
            assert!(said.out.contains("[2, 1000]") && said.out.contains("[3, 500000000]"), "{said:?}");
        }
    }
}
