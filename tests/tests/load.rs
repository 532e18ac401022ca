//! `compare` of mechanisms by their names under a load, with the real binary and scripted costs.

use serde_json::Value;
use switchcost_e2e::{Real, World, mechanism};

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

fn of<'a>(json: &'a Value, name: &str) -> &'a Value {
    burdens(json).iter().find(|burden| burden["mechanism"] == name).unwrap_or_else(|| panic!("{json}"))
}

fn burdens(json: &Value) -> &[Value] {
    json["loaded"]["burdens"].as_array().unwrap()
}

/// A world with a third mechanism, `thread/spin`, of 5000 ns.
fn three() -> World {
    let world = World::new(FAKE);
    let dear = mechanism("").replace("default = \"1000\"", "default = \"5000\"");
    world.write("share/switchcost/mechanisms/thread/spin.toml", &dear);
    world
}

#[test]
fn the_cost_is_the_rate_times_the_figure_and_only_cpu_time_decides() {
    let world = World::new(FAKE);
    assert_eq!(world.run("run thread/honest thread/spread --rounds 10 --seed 1").status, 0);
    let compare = |words: &str| world.run(&format!("compare thread/honest thread/spread {words} --format json")).json();
    let json = compare("--rate 50k/s");
    let honest = of(&json, "thread/honest");
    assert_eq!((&honest["cpu"], &honest["fit"], &honest["interval"][1]), (&0.05.into(), &"fits".into(), &0.05.into()));
    assert_eq!((&json["loaded"]["load"]["contexts"], &honest["memory"]), (&2.into(), &Value::Null));
    assert_eq!(of(&compare("--rate 200k/s"), "thread/honest")["fit"], "does_not_fit");
    assert_eq!(of(&compare("--rate 200k/s --cpu 30%"), "thread/honest")["fit"], "fits");
    // Its starts differ, so that mean and figure do: of the mean a part is what others took.
    let rows = world.run("export --format json").json()["results"].as_array().unwrap().clone();
    let spread =
        rows.iter().find(|row| row["mechanism"] == "thread/spread" && row["label"] == "thread/spread").unwrap();
    let (mean, median) = (spread["mean"].as_f64().unwrap(), spread["median"].as_f64().unwrap());
    let share = of(&json, "thread/spread");
    assert!((mean - median).abs() > 1e-6, "the test needs starts that differ: {spread}");
    assert!((share["cpu"].as_f64().unwrap() - median * 50e3 / 1e9).abs() < 1e-12, "{share} of {spread}");
    assert!(share["interval"][0].as_f64() < share["cpu"].as_f64());
    assert!(share["cpu"].as_f64() < share["interval"][1].as_f64());
}

#[test]
fn the_cheapest_that_fits_comes_first_and_what_is_missing_is_measured_as_asked() {
    let world = three();
    let words = "compare spin thread/spread honest --contexts 4 --rate 30k/s --rounds 6 --seed 1 --format json";
    let said = world.run(words);
    assert_eq!(said.status, 0, "{said:?}");
    assert!(said.err.contains("measured now: thread/spin contexts=4, "), "{said:?}");
    let json = said.json();
    assert_eq!(burdens(&json)[2]["mechanism"], "thread/spin", "{json}");
    assert_eq!((&burdens(&json)[2]["fit"], &burdens(&json)[0]["fit"]), (&"does_not_fit".into(), &"fits".into()));
    // The first name is what the others are set beside.
    let comparisons = json["comparisons"].as_array().unwrap();
    assert!(comparisons.iter().all(|row| row["asked"][0] == "thread/spin"), "{json}");
    let others: Vec<&str> = comparisons.iter().filter_map(|row| row["asked"][1].as_str()).collect();
    assert_eq!(others, ["thread/spread", "thread/honest"], "{json}");
    // What was measured answers the same question again, and another rate.
    let again = world.run("compare spin thread/spread honest --contexts 4 --rate 1k/s");
    assert!(again.status == 0 && !again.err.contains("measured"), "{again:?}");
    // Where the intervals meet, both are named.
    let words = again.words();
    let sentence = words.split(" of a CPU").next().unwrap();
    assert!(sentence.contains(" least: 1,000 switches/s between 4 contexts take 0.1"), "{again:?}");
    assert!(sentence.contains("thread/honest") && !sentence.contains("thread/spin"), "{again:?}");
    assert!(again.out.contains("Against thread/spin, on this machine"), "{again:?}");
    let beyond = world.run("compare spin thread/spread honest --contexts 4 --rate 100M/s").out;
    assert!(beyond.contains("None is known to stay within 10 % of a CPU at 100,000,000"), "{beyond}");
}

#[test]
fn a_mechanism_that_cannot_run_is_left_out_unless_too_few_are_left() {
    let world = three();
    let said = world.run("compare honest absent spin --rounds 6 --format json");
    assert_eq!(said.status, 0, "{said:?}");
    assert_eq!(said.json()["skipped"][0]["label"], "thread/absent", "{said:?}");
    world.run("compare honest absent").refuses(3, &["thread/absent", "cannot be measured"]);
}

#[test]
fn memory_is_that_of_the_same_contexts() {
    let Some(real) = Real::new(FAKE) else { return };
    let said =
        real.run("compare thread/futex stack/asm --contexts 300 --rate 1/s --rounds 10 --budget 300s --format json");
    let json = said.json();
    // A run that a busy machine has made unstable is refused, which makes the answer partial.
    let refused = !json["refused"].as_array().unwrap().is_empty();
    assert_eq!(said.status, if refused { 4 } else { 0 }, "{said:?}");
    let (thread, stack) = (of(&json, "thread/futex"), of(&json, "stack/asm"));
    for side in [&thread, &stack] {
        let limited = side["conditions"].as_array().is_some_and(|limits| !limits.is_empty());
        assert!(side["fit"] == "fits" || limited, "{json}");
    }
    assert!(thread["memory"].as_f64() > stack["memory"].as_f64() && stack["memory"].as_f64() > Some(0.0), "{json}");
}

#[test]
fn bad_input_is_one_sentence() {
    let world = World::new(FAKE);
    for (words, word) in [
        ("honest spread --rate x", "--rate"),
        ("honest spread --rate 0/s", "--rate"),
        ("honest spread --contexts 0", "--contexts"),
        ("honest spread --cpu 5%", "--rate"),
        ("latest thread/* --rate 1/s", "by their names"),
    ] {
        world.run(&format!("compare {words}")).refuses(2, &[word]);
    }
}

#[test]
fn in_what_mechanisms_differ_beside_their_cost_is_said() {
    let world = World::new(FAKE);
    for (name, language) in [("honest", "python"), ("spread", "c")] {
        let page = format!("tags = [\"{language}\", \"other\"]\n{}", mechanism(""));
        world.write(&format!("share/switchcost/mechanisms/thread/{name}.toml"), &page);
    }
    let said = |words: &str| world.run(&format!("compare {words} --rounds 6")).words();
    let differ = "by language: thread/honest python, thread/spread c; thread/honest is a thread of python";
    let pair = said("honest spread");
    assert!(pair.contains(differ), "{pair}");
    let alike = said("spread spread");
    assert!(!alike.contains("by language"), "{alike}");
}
