//! `budget` with the real binary and scripted costs.

use switchcost_e2e::{Real, Said, World, mechanism};

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

fn of<'a>(json: &'a serde_json::Value, label: &str) -> &'a serde_json::Value {
    json["mechanisms"].as_array().unwrap().iter().find(|bid| bid["label"] == label).unwrap_or_else(|| panic!("{json}"))
}

fn labels(json: &serde_json::Value) -> Vec<&str> {
    json["mechanisms"].as_array().unwrap().iter().map(|bid| bid["label"].as_str().unwrap()).collect()
}

fn budget(world: &World, arguments: &str) -> Said {
    world.run(&format!("budget {arguments} --format json"))
}

/// A world with these mechanisms only.
fn only(kept: &[&str]) -> World {
    let world = World::new(FAKE);
    for entry in std::fs::read_dir(world.path("share/switchcost/mechanisms/thread")).unwrap() {
        let path = entry.unwrap().path();
        if !kept.contains(&path.file_stem().unwrap().to_str().unwrap()) {
            std::fs::remove_file(path).unwrap();
        }
    }
    world
}

#[test]
fn cost_is_the_rate_times_the_mean_and_only_cpu_time_decides() {
    let world = World::new(FAKE);
    assert_eq!(world.run("run thread/honest thread/spread --rounds 6 --seed 1").status, 0);
    let json = budget(&world, "--rate 50k/s --contexts 2").json();
    let bid = of(&json, "thread/honest");
    assert_eq!((&bid["share_of_a_cpu"]["value"], &bid["fit"]), (&0.05.into(), &"fits".into()));
    assert_eq!(bid["share_of_a_cpu"]["measured_as_asked"], true);
    assert!(json["sentence"].as_str().unwrap().contains("5.0 % (5.0 % – 5.0 %) of a CPU"), "{json}");
    let dear = budget(&world, "--rate 200k/s --contexts 2").json();
    assert_eq!(of(&dear, "thread/honest")["fit"], "does not fit");
    let allowed = budget(&world, "--rate 200k/s --contexts 2 --cpu 30%").json();
    assert_eq!(of(&allowed, "thread/honest")["fit"], "fits");
    // Its starts differ, so that mean and median do.
    let rows = world.run("show --format json").json()["results"].as_array().unwrap().clone();
    let spread =
        rows.iter().find(|row| row["mechanism"] == "thread/spread" && row["label"] == "thread/spread").unwrap();
    let (mean, median) = (spread["mean"].as_f64().unwrap(), spread["median"].as_f64().unwrap());
    let share = &of(&json, "thread/spread")["share_of_a_cpu"];
    assert!((mean - median).abs() > 1e-6, "the test needs starts that differ: {spread}");
    assert!((share["value"].as_f64().unwrap() - mean * 50e3 / 1e9).abs() < 1e-12, "{share} of {spread}");
    assert!(share["low"].as_f64() < share["value"].as_f64() && share["value"].as_f64() < share["high"].as_f64());
    // What fewer starts than an interval needs say is told, and decides nothing.
    let brief = World::new(FAKE);
    assert_eq!(brief.run("run thread/honest --rounds 2").status, 0);
    let bid = of(&budget(&brief, "--rate 1/s --contexts 2").json(), "thread/honest").clone();
    assert_eq!((&bid["fit"], &bid["share_of_a_cpu"]["low"]), (&"cannot tell".into(), &serde_json::Value::Null));
}

#[test]
fn guesses_are_told_apart_and_never_ranked_above_what_was_measured() {
    let world = World::new(FAKE);
    // Cheaper, but with two contexts only.
    assert_eq!(world.run("run thread/honest --param ticks=1000 --rounds 6").status, 0);
    let dear = mechanism("").replace("default = \"1000\"", "default = \"5000\"");
    world.write("share/switchcost/mechanisms/thread/spin.toml", &dear);
    assert_eq!(world.run("run thread/spin --contexts 1000 --rounds 6").status, 0);
    let json = budget(&world, "--rate 10k/s --contexts 1000").json();
    assert_eq!(labels(&json), ["thread/spin", "thread/honest"]);
    let guess = of(&json, "thread/honest");
    assert_eq!((&guess["fit"], &guess["share_of_a_cpu"]["contexts"]), (&"guess".into(), &2.into()));
    let sentence = json["sentence"].as_str().unwrap();
    assert!(sentence.starts_with("thread/spin costs least of 1 mechanism measured with 1,000 contexts"), "{sentence}");
    let text = world.run("budget --rate 10k/s --contexts 1000").out;
    assert!(text.contains("guess from 2 contexts, not ranked: thread/honest 1.0 %"), "{text}");
    assert!(text.contains("add --measure (about ") && text.lines().count() <= 25, "{text}");
    let none = budget(&world, "--rate 10k/s --contexts 900").json();
    assert!(none["sentence"].as_str().unwrap().contains("what follows are guesses"), "{none}");
    assert!(none["mechanisms"].as_array().unwrap().iter().all(|bid| bid["fit"] == "guess"), "{none}");
    // Another parameter than the default is another thing.
    assert_eq!(world.run("run thread/honest --param ticks=7000 --rounds 6").status, 0);
    assert_eq!(
        of(&budget(&world, "--rate 1k/s --contexts 2").json(), "thread/honest")["share_of_a_cpu"]["value"],
        0.001
    );
}

#[test]
fn what_no_program_would_choose_is_left_out() {
    let world = World::new(FAKE);
    let page = mechanism("").replace("[parameters.ticks]", "not_a_choice = \"a test\"\n[parameters.ticks]");
    world.write("share/switchcost/mechanisms/thread/spin.toml", &page);
    assert_eq!(world.run("run thread/honest thread/spin --rounds 6").status, 0);
    let json = budget(&world, "--rate 10k/s --contexts 2").json();
    assert_eq!(labels(&json), ["thread/honest"]);
    assert!(!json["missing"].to_string().contains("thread/spin"), "{json}");
}

#[test]
fn measuring_fills_the_gaps_in_one_go_and_says_how_long_it_takes() {
    let world = only(&["honest", "spread", "unsupported"]);
    let said = budget(&world, "--rate 1k/s --contexts 4 --measure --budget 20s");
    assert_eq!(said.status, 0, "{said:?}");
    assert!(
        said.err.starts_with("switchcost: measuring 3 rows first, about ")
            || said.err.starts_with("measuring 3 rows first, about "),
        "{said:?}"
    );
    let json = said.json();
    assert_eq!(
        (&of(&json, "thread/honest")["share_of_a_cpu"]["value"], &json["missing"]),
        (&0.001.into(), &serde_json::json!([]))
    );
    assert_eq!(of(&json, "thread/spread")["share_of_a_cpu"]["measured_as_asked"], true);
    // What cannot be measured is told with its reason and not tried again.
    assert_eq!(json["failed"][0]["row"], "thread/unsupported contexts=4", "{json}");
    let again = budget(&world, "--rate 1k/s --contexts 4 --measure");
    assert!(again.err.is_empty(), "{again:?}");
}

#[test]
fn memory_is_that_of_the_same_contexts_and_a_closed_loop_decides_nothing() {
    let Some(real) = Real::new(FAKE) else {
        eprintln!("skipped: no probe is staged (make build)");
        return;
    };
    for asked in ["thread/futex", "thread/futex --timing each", "thread/pthread --experiment footprint"] {
        let said = real.run(&format!("run {asked} --rounds 6 --batches 10 --batch-time 2ms --budget 300s"));
        assert_eq!(said.status, 0, "{said:?}");
    }
    let budget = |arguments: &str| real.run(&format!("budget --rate 1/s --contexts 2 {arguments}"));
    let json = budget("--latency-p99 1ns --format json").json();
    let bid = of(&json, "thread/futex");
    assert_eq!((&bid["fit"], &bid["memory_of"]), (&"fits".into(), &"thread/pthread".into()), "{bid}");
    assert!(bid["memory_bytes"]["value"].as_f64().unwrap() > 0.0, "{bid}");
    assert!(bid["closed_loop_p99_ns"]["value"].as_f64().unwrap() > 1.0, "{bid}");
    let text = budget("--latency-p99 1ns").out;
    for words in ["p99, closed loop", "decides nothing", "no open-loop measurement", "is that of thread/pthread"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(!budget("").out.contains("p99"));
}

#[test]
fn bad_input_is_one_sentence() {
    let world = World::new(FAKE);
    world.run("budget --rate 1k/s --contexts 2").refuses(3, &["no measurement", "--measure"]);
    for (arguments, word) in [
        ("--rate x --contexts 2", "--rate"),
        ("--rate 0/s --contexts 2", "--rate"),
        ("--rate 1/s --contexts 1", "--contexts"),
        ("--rate 1/s --contexts 2 --working-set x", "--working-set"),
        ("--rate 1/s --contexts 2 --latency-p99 5", "--latency-p99"),
        ("--rate 1/s --contexts 2 --measure --budget 5", "--budget"),
        ("--rate 1/s", "--contexts"),
    ] {
        world.run(&format!("budget {arguments}")).refuses(2, &[word]);
    }
}
