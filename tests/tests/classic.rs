//! `classic`: argument checks and forms of answer, through the fake probe with scripted ticks; and each program once with the real ones.

use serde_json::Value;
use switchcost_e2e::{Real, Said, World};

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

/// A program like those of the write-ups, whose mechanism costs what the fake is told: 1234 ticks of 1 ns per unit.
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

[[variant]]
name = "free"
mechanism = "thread/honest"
contexts = "n"
placement = "free"
parameters = { ticks = "1234" }
work = "n * m"

[[variant]]
name = "pinned"
mechanism = "thread/honest"
contexts = "n"
placement = "one_cpu"
parameters = { ticks = "1234" }
work = "n * m"
batches = 10
batch_units = 2000
label = "2000 in a row"

[[variant]]
name = "gone"
mechanism = "thread/nowhere"
placement = "one_cpu"
work = "1"

[[variant]]
name = "builds"
mechanism = "thread/noise"
placement = "one_cpu"
every_probe = true
parameters = { ticks = "5000" }
work = "90000"

[[answer]]
heading = "as it likes"
needs = ["free"]
form = """
{{ v.free.work }} switches in {{ v.free.total | fixed(0) }} ns ({{ v.free.mean | fixed(1) }}ns / switch)
  voluntary switches = {{ (v.free.voluntary * v.free.work) | fixed(0) }}
  involuntary switches = {{ (v.free.involuntary * v.free.work) | fixed(0) }}
"""

[[answer]]
heading = "rows"
needs = ["pinned"]
form = """
* {{ v.pinned.k }} in a row: {{ (v.pinned.min * v.pinned.k / 1000) | fixed(0) }} microseconds total, ~{{ (v.pinned.min / 1000) | significant(2) }} microseconds/switch
"""

[[answer]]
heading = "lost"
needs = ["gone"]
form = "never shown"

[[answer]]
heading = "table"
needs = ["builds"]
form = """
{% for build in builds %}
{% if build.v.builds.found %}
| {{ build.probe }} | {{ build.v.builds | total_ms }} | {{ build.v.gone | total_ms }} |
{% endif %}
{% endfor %}
"""

[[difference]]
text = """
{% if v.free is defined and v.free.found %}Ours costs {{ v.free.ns | ns }} ns, {{ v.free | interval }}.{% endif %}"""

[[difference]]
text = "{% if v.free is defined and not v.free.found %}never said{% endif %}"

[[known]]
on = "another machine"
printed = "28788.3 ns / switch"
"#;

fn world() -> World {
    let world = World::new(FAKE);
    world.write("share/switchcost/classic/ring.toml", PROGRAM);
    world
}

fn part<'a>(answer: &'a Value, heading: &str) -> &'a str {
    let parts = answer["answers"].as_array().unwrap();
    let part = parts.iter().find(|part| part["heading"] == heading).unwrap_or_else(|| panic!("no {heading}: {answer}"));
    part["text"].as_str().unwrap()
}

#[test]
fn the_original_s_form_is_filled_with_what_was_measured() {
    let world = world();
    let said = world.run("classic ring 4 30000 --format json");
    assert_eq!(said.status, 0, "{said:?}");
    let answer = said.json();
    assert_eq!(
        part(&answer, "as it likes"),
        "120000 switches in 148080000 ns (1234.0ns / switch)\n  voluntary switches = 120000\n  involuntary switches = 0\n"
    );
    assert_eq!(part(&answer, "rows"), "* 2000 in a row: 2468 microseconds total, ~1.2 microseconds/switch\n");
    assert!(part(&answer, "lost").contains("cannot be shown here") && part(&answer, "lost").contains("thread/nowhere"));
    assert_eq!(part(&answer, "table"), "| fake | 450ms | not here |\n");
    assert_eq!(answer["differences"][0], "Ours costs 1,234 ns, 1,234 – 1,234.");
    assert!(!answer["differences"].to_string().contains("never said"));
    assert!(answer["known"][0].as_str().unwrap().contains("28788.3"));
    assert_eq!(answer["arguments"], serde_json::json!({ "n": 4, "m": 30000 }));
}

#[test]
fn the_json_of_programs_fits_its_schema() {
    let world = world();
    let schema = std::fs::read_to_string(switchcost_e2e::repository().join("docs/classic.schema.json")).unwrap();
    let validator = jsonschema::validator_for(&serde_json::from_str(&schema).unwrap()).unwrap();
    let errors = |answer: &Value| validator.iter_errors(answer).map(|error| error.to_string()).collect::<Vec<_>>();
    let one = world.run("classic ring --format json").json();
    assert_eq!(errors(&one), [] as [String; 0]);
    world.write("share/switchcost/classic/second.toml", PROGRAM);
    let all = world.run("classic all --rounds 1 --format json").json();
    assert_eq!(all.as_array().unwrap().len(), 2);
    assert_eq!(errors(&all), [] as [String; 0]);
    // A schema that accepts everything would pass too.
    for (field, wrong) in [("arguments", Value::from("4")), ("run", Value::Null), ("answer", Value::from(1))] {
        let mut odd = one.clone();
        odd[field] = wrong;
        assert!(!validator.is_valid(&odd), "{field}");
    }
}

#[test]
fn the_work_is_the_original_s_and_the_run_is_kept() {
    let world = world();
    let said = world.run("classic ring 3 20000 --placement free --format json");
    assert_eq!(said.status, 0, "{said:?}");
    let kept = world.run("show --format json").json();
    assert_eq!(kept, said.json()["run"]);
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
    assert!(said.json()["answers"].as_array().unwrap().iter().all(|part| part["heading"] != "rows"), "{said:?}");
}

#[test]
fn rows_of_different_length_are_rows_of_their_own() {
    let world = world();
    let rows = world.run("classic ring --format json").json()["run"]["results"].as_array().unwrap().clone();
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
    refuses("classic", &["PROGRAM"]);
    refuses("classic all 4", &["takes no arguments"]);
    refuses("classic ring --placement two_cpus", &["--placement", "free"]);
}

#[test]
fn a_program_without_arguments_says_that_it_ignores_them() {
    let world = world();
    let text = PROGRAM.replace("usage = \"\"\"", "explains2 = \"\"\"");
    world.write("share/switchcost/classic/odd.toml", &text);
    world.run("classic --list").refuses(2, &["odd.toml", "explains2"]);
    let (head, tail) = PROGRAM.split_once("usage = \"\"\"").unwrap();
    let tail = tail.split_once("\"\"\"").unwrap().1.split_once("[[argument]]").unwrap();
    let rest = tail.1.split_once("[[variant]]").unwrap().1;
    let text =
        format!("{head}rounds = 6\n[[variant]]{rest}").replace("\"n * m\"", "\"60000\"").replace("\"n\"", "\"2\"");
    world.write("share/switchcost/classic/odd.toml", &text);
    let said = world.run("classic odd 7 --format json");
    assert_eq!(said.status, 0, "{said:?}");
    assert!(said.json()["differences"].to_string().contains("ignored"), "{said:?}");
}

#[test]
fn all_programs_make_one_page() {
    let world = world();
    world.write("share/switchcost/classic/second.toml", PROGRAM);
    let said = world.run("classic all");
    assert_eq!(said.status, 0, "{said:?}");
    for words in ["# The programs", "\n## `ring 4 30000`", "\n## `second 4 30000`", "**as it likes**", "| fake | 450ms"]
    {
        assert!(said.out.contains(words), "{words} is missing in {}", said.out);
    }
    assert_eq!(world.run("history --format json").json()["runs"].as_array().unwrap().len(), 2);
    assert!(world.run("classic --list").out.contains("n: 2 to 10, default 4"));
    assert_eq!(world.run("classic --list --format json").json()["programs"][1]["name"], "second");
}

#[test]
fn a_template_that_names_nothing_is_a_fault_with_its_place() {
    let world = world();
    world.write("share/switchcost/classic/ring.toml", &PROGRAM.replace("v.free.mean", "v.free.maen"));
    world.run("classic ring").refuses(70, &["classic/ring.toml", "undefined"]);
}

/// The labels that each original prints.
const FORMS: &[(&str, &[&str])] = &[
    (
        "testFiber 2 300",
        &[
            "Ran With 2 Fibers and 300 Iterations",
            "cycles across 600 Call Pairs",
            "compensated, fiber context switch time is:",
        ],
    ),
    (
        "testThread 3 100",
        &[
            "Ran With 3 Threads and 100 Iterations",
            "cycles across 300 Switches",
            "compensated, thread context switch time is:",
        ],
    ),
    ("thread-switch-pipe", &["measure_self_pipe: ", "200000 context switches in ", "From getrusage:"]),
    ("thread-switch-condvar", &["Running for 100000 iterations", "200000 context switches in "]),
    ("thread-pipe-msgpersec", &["200000 iterations took ", " iters/sec"]),
    (
        "context_switch",
        &["* 20 context switches in a row: ", "* 20000 context switches in a row: ", " microseconds/switch"],
    ),
    ("pingpang", &["| test       | compiler ", "| pingpang | "]),
    ("createalot", &["| test       | compiler ", "| createalot | "]),
    ("goroutine", &["| Run | Single-Thread Time ", "| **Average** | ", "| **Goroutine** | "]),
];

#[test]
fn every_program_answers_in_its_form() {
    let Some(real) = Real::new(FAKE) else { return };
    let listed = real.run("classic --list --format json").json();
    for (program, labels) in FORMS {
        let name = program.split(' ').next().unwrap();
        assert!(listed["programs"].as_array().unwrap().iter().any(|p| p["name"] == name), "{name} is not listed");
        let said: Said =
            real.run(&format!("classic {program} --placement one_cpu,free --rounds 1 --budget 120s --format json"));
        assert!([0, 3, 4].contains(&said.status), "{program}: {said:?}");
        let answer = said.json();
        for row in answer["run"]["results"].as_array().unwrap() {
            let fine = ["verified", "unobservable", "unsupported"].contains(&row["verdict"].as_str().unwrap());
            assert!(fine, "{program}: {row}");
        }
        let text: String = answer["answers"].as_array().unwrap().iter().map(|p| p["text"].as_str().unwrap()).collect();
        if text.contains("cannot be shown here") {
            continue; // A probe that was not built; the part says so.
        }
        for label in *labels {
            assert!(text.contains(label), "{program}: {label:?} is missing in\n{text}");
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
            for arguments in ["-1", "abc 99999999999999999999 0"] {
                // What it measures does not matter here: the budget is gone before much is.
                let said = real.run(&format!("classic {name} {arguments} --rounds 1 --budget 100ms --format json"));
                assert!([0, 3, 4].contains(&said.status), "{name} {arguments}: {said:?}");
                assert!(said.json()["differences"].to_string().contains("ignored"), "{name} {arguments}: {said:?}");
            }
            continue;
        }
        for arguments in ["1", "1001", "0", "-1", "2 2", "2 500000001", "2 -3", "two", "2 two", "4x", "2 3 4"] {
            let said = real.run(&format!("classic {name} {arguments}"));
            assert_eq!((said.status, said.err.as_str()), (1, ""), "{name} {arguments}: {said:?}");
            assert!(said.out.contains("[2, 1000]") && said.out.contains("[3, 500000000]"), "{said:?}");
        }
    }
}
