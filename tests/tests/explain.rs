//! `explain` with the real binary and scripted costs: layers, intervals and residue are known exactly.

use switchcost_e2e::{World, mechanism, repository};

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

fn term(name: &str, ticks: u64, times: f64) -> String {
    format!("{{ mechanism = \"thread/{name}\", parameters = {{ ticks = \"{ticks}\" }}, times = {times:.1} }}")
}

fn layer(name: &str, from: &[String], minus: &[String]) -> String {
    format!(
        "[[layer]]\nname = \"{name}\"\nfrom = [{}]\nminus = [{}]\nwhy = \"a test\"\n",
        from.join(", "),
        minus.join(", ")
    )
}

/// thread/honest costs 1000 ns and is made of `layers`.
fn world(layers: &str) -> World {
    let world = World::new(FAKE);
    world.write("share/switchcost/mechanisms/thread/honest.toml", &mechanism(layers));
    world
}

#[test]
fn layers_are_differences_and_the_rest_is_the_residue() {
    let layers = [
        layer("calls", &[term("honest", 150, 2.0)], &[]),
        layer("copy", &[term("honest", 900, 1.0)], &[term("honest", 200, 2.0)]),
    ];
    let world = world(&layers.concat());
    let said = world.run("explain thread/honest --rounds 30 --format json");
    assert_eq!(said.status, 0, "{said:?}");
    let json = said.json();
    let cost = |part: &serde_json::Value| {
        (part["ns"].as_f64().unwrap(), part["low"].as_f64(), part["resolved"].as_bool().unwrap())
    };
    assert_eq!(cost(&json["total"]), (1000.0, Some(1000.0), true));
    assert_eq!(cost(&json["layers"][0]["cost"]), (300.0, Some(300.0), true));
    assert_eq!(cost(&json["layers"][1]["cost"]), (500.0, Some(500.0), true));
    assert_eq!(cost(&json["residue"]), (200.0, Some(200.0), true));
    // Rounds in which something disturbed a row may be left out.
    assert!((6..=30).contains(&json["total"]["rounds"].as_u64().unwrap()), "{json}");
    assert_eq!(json["layers"][1]["terms"], "thread/honest ticks=900 − 2 × thread/honest ticks=200");
    let schema = std::fs::read_to_string(repository().join("docs/explain.schema.json")).unwrap();
    let schema = serde_json::from_str(&schema).unwrap();
    jsonschema::validate(&schema, &json).unwrap_or_else(|error| panic!("{error}"));
    assert!(jsonschema::validate(&schema, &serde_json::json!({ "format": 1 })).is_err());
    // The same run again, without measuring.
    let text = world.run("explain thread/honest --stored").out;
    for words in ["calls", "copy", "residue", "20 % of the whole", "█"] {
        assert!(text.contains(words), "{words} is missing: {text}");
    }
    assert!(world.run("explain").out.contains("thread/honest (one_cpu) = calls + copy + residue"));
}

#[test]
fn layers_that_add_up_leave_nothing_and_noise_is_not_resolved() {
    let layers = [
        layer("all", &[term("honest", 1000, 1.0)], &[]),
        layer("noise", &[term("spread", 10, 1.0)], &[term("spread", 11, 1.0)]),
    ];
    let world = world(&layers.concat());
    // Of intervals at 95 % one in twenty excludes what is true: the seed is fixed.
    let measured = world.run("run thread/honest thread/spread --param ticks=1000,10,11 --rounds 30 --seed 7");
    assert_eq!(measured.status, 0, "{measured:?}");
    let json = world.run("explain thread/honest --stored --format json").json();
    assert_eq!(json["layers"][1]["cost"]["resolved"], false, "{json}");
    assert_eq!(json["residue"]["resolved"], false, "{json}");
    assert!(json["sentence"].as_str().unwrap().contains("add up to the whole within the interval"), "{json}");
}

#[test]
fn what_cannot_be_measured_is_a_layer_with_a_reason() {
    let layers =
        [layer("here", &[term("honest", 600, 1.0)], &[]), layer("elsewhere", &[term("absent", 1000, 1.0)], &[])];
    let said = world(&layers.concat()).run("explain thread/honest --rounds 6 --format json");
    assert_eq!(said.status, 4, "{said:?}");
    let json = said.json();
    assert!(json["layers"][1]["reason"].as_str().unwrap().contains("libabsent"), "{json}");
    assert_eq!((&json["layers"][1]["cost"], &json["residue"]["ns"]), (&serde_json::Value::Null, &400.0.into()));
}

#[test]
fn without_layers_there_is_the_floor() {
    let world = world("");
    let text = std::fs::read_to_string(world.path("share/switchcost/mechanisms/thread/honest.toml")).unwrap();
    world.write("share/switchcost/mechanisms/thread/honest.toml", &format!("floor = [\"thread/noise\"]\n{text}"));
    let said = world.run("explain thread/honest --rounds 6");
    assert_eq!(said.status, 0, "{said:?}");
    assert!(said.out.contains("no layers") && said.out.contains("what thread/noise costs"), "{said:?}");
}

#[test]
fn a_factor_is_a_count_of_the_evidence() {
    // Of five switches three block and two preempt.
    let counted = "[[layer]]\nname = \"calls\"\nwhy = \"a test\"\n\
        from = [{ mechanism = \"thread/honest\", parameters = { ticks = \"200\" }, times = 2.0, per = \"voluntary\" }]\n\
        minus = [{ mechanism = \"thread/honest\", parameters = { ticks = \"100\" }, per = \"involuntary\" }]\n";
    let world = World::new(FAKE);
    let write = |layers: &str| world.write("share/switchcost/mechanisms/thread/preempts.toml", &mechanism(layers));
    // A whole number of fives a batch, so that the share is exact.
    write(counted);
    let json = world.run("explain thread/preempts --rounds 6 --format json").json();
    let calls = json["layers"][0]["cost"]["ns"].as_f64().unwrap();
    assert!((calls - 200.0).abs() < 0.01, "0.6 × 2 × 200 − 0.4 × 100: {json}");
    assert!((json["residue"]["ns"].as_f64().unwrap() - 800.0).abs() < 0.01, "{json}");
    let terms = "2 × voluntary × thread/honest ticks=200 − involuntary × thread/honest ticks=100";
    assert_eq!(json["layers"][0]["terms"], terms);
    write(&counted.replace("per = \"involuntary\"", "per = \"sneezes\""));
    world.run("explain thread/preempts").refuses(2, &["preempts.toml", "sneezes", "involuntary, voluntary"]);
}

#[test]
fn a_residue_has_a_name_and_other_rows_are_named() {
    let of_fifo =
        layer("parts", &[term("honest", 100, 1.0)], &[]).replace("why", "parameters = { ticks = \"500\" }\nwhy");
    let residue = "[[residue]]\nwhat = \"dust\"\ntest = \"a broom\"\n";
    let world = world(&[layer("all", &[term("honest", 600, 1.0)], &[]), of_fifo, residue.into()].concat());
    let said = world.run("explain thread/honest --rounds 6");
    for words in ["residue: dust; what would show it: a broom", "--placement one_cpu --param ticks=500"] {
        assert!(said.out.split_whitespace().collect::<Vec<_>>().join(" ").contains(words), "{words}: {said:?}");
    }
    let json = world.run("explain thread/honest --stored --format json").json();
    assert_eq!((&json["residue_is"]["what"], &json["residue_is"]["test"]), (&"dust".into(), &"a broom".into()));
    let json = world.run("explain thread/honest --param ticks=500 --rounds 6 --format json").json();
    assert_eq!((&json["residue"]["ns"], &json["residue_is"]), (&400.0.into(), &serde_json::Value::Null));
    let without = "[[residue]]\nplacement = \"free\"\nwhat = \"dust\"\n";
    world.write("share/switchcost/mechanisms/thread/honest.toml", &mechanism(without));
    world.run("explain thread/honest").refuses(2, &["thread/honest.toml", "residue", "no layers"]);
}

#[test]
fn bad_input_is_one_sentence() {
    let fine = world(&layer("all", &[term("honest", 1000, 1.0)], &[]));
    fine.run("explain thread/honset").refuses(2, &["thread/honset", "did you mean `thread/honest`"]);
    fine.run("explain zzz").refuses(2, &["zzz"]);
    let only = mechanism("").replace("experiments = [\"switch\"]", "experiments = [\"create\"]");
    fine.write("share/switchcost/mechanisms/thread/sized.toml", &only);
    fine.run("explain thread/sized").refuses(2, &["thread/sized has no switch to explain, only experiment create"]);
    fine.run("explain thread/honest --stored").refuses(3, &["no stored run"]);
    fine.run("explain thread/honest --param nothing=1").refuses(2, &["nothing", "no such parameter"]);
    fine.run("explain thread/honest --param ticks=x").refuses(2, &["ticks"]);
    for (layers, words) in [
        (layer("x", &[], &[]), "at least one entry"),
        (layer("x", &[term("nowhere", 1, 1.0)], &[]), "thread/nowhere"),
        (layer("x", &[term("honest", 1, -1.0)], &[]), "not above 0"),
        (layer("x", &[term("honest", 1, 1.0)], &[]).replace("why =", "wy ="), "wy"),
        (layer("x", &[term("honest", 2_000_000_000, 1.0)], &[]), "ticks"),
    ] {
        world(&layers).run("explain thread/honest").refuses(2, &["thread/honest.toml", words]);
    }
}
