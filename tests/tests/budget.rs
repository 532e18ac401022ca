//! `budget` with the real binary and scripted costs.

use switchcost_e2e::{Said, World};

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

fn of<'a>(json: &'a serde_json::Value, label: &str) -> &'a serde_json::Value {
    json["mechanisms"].as_array().unwrap().iter().find(|bid| bid["label"] == label).unwrap_or_else(|| panic!("{json}"))
}

fn budget(world: &World, arguments: &str) -> Said {
    world.run(&format!("budget {arguments} --format json"))
}

#[test]
fn cost_follows_from_rate_and_extrapolation_is_marked() {
    let world = World::new(FAKE);
    assert_eq!(world.run("run thread/honest thread/blind --rounds 6").status, 0);
    let json = budget(&world, "--rate 50k/s --contexts 2").json();
    let bid = of(&json, "thread/honest");
    assert_eq!((&bid["share_of_a_cpu"]["value"], &bid["fit"]), (&0.05.into(), &"fits".into()));
    assert_eq!(bid["share_of_a_cpu"]["extrapolated"], serde_json::json!([]));
    assert!(json["sentence"].as_str().unwrap().contains("5.0 % of a CPU"), "{json}");
    let dear = budget(&world, "--rate 200k/s --contexts 2").json();
    assert_eq!(of(&dear, "thread/honest")["fit"], "does not fit");
    let allowed = budget(&world, "--rate 200k/s --contexts 2 --cpu 30%").json();
    assert_eq!(of(&allowed, "thread/honest")["fit"], "fits");
    let large = budget(&world, "--rate 50k/s --contexts 10k --latency-p99 50us").json();
    let bid = of(&large, "thread/honest");
    assert!(bid["share_of_a_cpu"]["extrapolated"][0].as_str().unwrap().contains("2 contexts"), "{bid}");
    assert_eq!((&bid["fit"], &bid["p99_ns"]), (&"cannot tell".into(), &serde_json::Value::Null));
    let missing = bid["missing"].to_string();
    assert!(missing.contains("--contexts 10000") && missing.contains("--timing each"), "{missing}");
    let text = world.run("budget --rate 50k/s --contexts 10k").out;
    assert!(text.contains("extrapolated") && text.contains("to be measured"), "{text}");
}

#[test]
fn the_newest_run_and_the_nearest_ring_count() {
    let world = World::new(FAKE);
    assert_eq!(world.run("run thread/honest --contexts 2,1000 --rounds 6").status, 0);
    assert_eq!(
        of(&budget(&world, "--rate 1k/s --contexts 1000").json(), "thread/honest")["share_of_a_cpu"]["extrapolated"],
        serde_json::json!([])
    );
    let far = budget(&world, "--rate 1k/s --contexts 900").json();
    assert!(of(&far, "thread/honest")["share_of_a_cpu"]["extrapolated"][0].as_str().unwrap().contains("1000 contexts"));
    // Another parameter than the default is another thing.
    assert_eq!(world.run("run thread/honest --param ticks=5000 --rounds 6").status, 0);
    assert_eq!(
        of(&budget(&world, "--rate 1k/s --contexts 2").json(), "thread/honest")["share_of_a_cpu"]["value"],
        0.001
    );
}

#[test]
fn measuring_fills_the_gaps() {
    let world = World::new(FAKE);
    let kept = ["honest", "families"];
    for entry in std::fs::read_dir(world.path("share/switchcost/mechanisms/thread")).unwrap() {
        let path = entry.unwrap().path();
        if !kept.contains(&path.file_stem().unwrap().to_str().unwrap()) {
            std::fs::remove_file(path).unwrap();
        }
    }
    let json = budget(&world, "--rate 1k/s --contexts 4 --measure --budget 20s").json();
    let bid = of(&json, "thread/honest");
    assert_eq!((&bid["share_of_a_cpu"]["value"], &bid["missing"]), (&0.001.into(), &serde_json::json!([])));
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
        ("--rate 1/s", "--contexts"),
    ] {
        world.run(&format!("budget {arguments}")).refuses(2, &[word]);
    }
}
