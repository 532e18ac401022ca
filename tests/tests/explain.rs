//! `explain` with the real binary and scripted costs: layers, intervals and residue are known
//! exactly.

use switchcost_e2e::{World, mechanism, repository};

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

/// What layers are made of: it costs its ticks exactly, and only its standard output is noisy.
const DONOR: &str = "noise";

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
        layer("calls", &[term(DONOR, 150, 2.0)], &[]),
        layer("copy", &[term(DONOR, 900, 1.0)], &[term(DONOR, 200, 2.0)]),
    ];
    let world = world(&layers.concat());
    let said = world.run("explain thread/honest --rounds 30 --budget 600s --format json");
    assert_eq!(said.status, 0, "{said:?}");
    let json = said.json();
    let cost = |part: &serde_json::Value| (part["ns"].as_f64().unwrap(), part["low"].as_f64());
    assert_eq!(cost(&json["total"]), (1000.0, Some(1000.0)));
    assert_eq!(cost(&json["layers"][0]["cost"]), (300.0, Some(300.0)));
    assert_eq!(cost(&json["layers"][1]["cost"]), (500.0, Some(500.0)));
    assert_eq!(cost(&json["residue"]), (200.0, Some(200.0)));
    for end in ["ratio", "low", "high"] {
        assert!((json["predicted_per_measured"][end].as_f64().unwrap() - 0.8).abs() < 1e-9, "{end}: {json}");
    }
    assert_eq!((&json["bound"], &json["adds_up"]), (&0.05.into(), &"no".into()));
    assert_eq!(json["total"]["rounds"], 30, "{json}");
    assert_eq!(json["layers"][1]["terms"], "thread/noise ticks=900 − 2 × thread/noise ticks=200");
    let schema = std::fs::read_to_string(repository().join("docs/explain.schema.json")).unwrap();
    let schema = serde_json::from_str(&schema).unwrap();
    jsonschema::validate(&schema, &json).unwrap_or_else(|error| panic!("{error}"));
    assert!(jsonschema::validate(&schema, &serde_json::json!({ "format": 1 })).is_err());
    // The same run again, without measuring.
    let text = world.run("explain thread/honest --stored").out;
    for words in ["calls", "copy", "unexplained rest", "0.800 (0.800 – 0.800); adds up within ±5 %: no.", "█"] {
        assert!(text.contains(words), "{words} is missing: {text}");
    }
    assert!(world.run("explain").out.contains("thread/honest"));
    let layers = world.run("explain -v");
    assert!(layers.words().contains("thread/honest (one_cpu) = calls + copy + rest"), "{layers:?}");
}

#[test]
fn that_layers_add_up_has_to_be_proven() {
    let of = |ticks| layer("parts", &[term(DONOR, ticks, 1.0)], &[]);
    let said = |layers: &str, rounds: u64| {
        let said = world(layers).run(&format!("explain thread/honest --rounds {rounds} --format json"));
        assert_eq!(said.status, 0, "{said:?}");
        said.json()
    };
    assert_eq!(said(&of(951), 6)["adds_up"], "yes");
    assert_eq!(said(&of(949), 6)["adds_up"], "no");
    assert_eq!(said(&of(1051), 6)["adds_up"], "no");
    let few = said(&of(1000), 5);
    assert_eq!(
        (&few["adds_up"], &few["predicted_per_measured"]["low"]),
        (&"cannot tell".into(), &serde_json::Value::Null)
    );
    // What differs by up to 1000 ns from start to start proves nothing, though the interval of the
    // residue holds 0.
    let noise = layer("scatter", &[term("spread", 10, 1.0)], &[term("spread", 11, 1.0)]);
    let world = world(&[of(1000), noise].concat());
    // Of intervals at 95 % one in twenty excludes what is true: the seed is fixed.
    let measured = world.run(
        "run thread/honest thread/noise thread/spread --param ticks=1000,10,11 --rounds 30 --seed 7 --budget 600s",
    );
    assert_eq!(measured.status, 0, "{measured:?}");
    let json = world.run("explain thread/honest --stored --format json").json();
    assert!(json["residue"]["low"].as_f64() < Some(0.0) && json["residue"]["high"].as_f64() > Some(0.0), "{json}");
    assert_eq!(json["adds_up"], "cannot tell", "{json}");
    let text = world.run("explain thread/honest --stored").out;
    assert!(text.contains("not resolved") && text.contains("adds up within ±5 %: inconclusive."), "{text}");
}

#[test]
fn what_cannot_be_measured_is_a_layer_with_a_reason() {
    let layers = [layer("here", &[term(DONOR, 600, 1.0)], &[]), layer("elsewhere", &[term("absent", 1000, 1.0)], &[])];
    let said = world(&layers.concat()).run("explain thread/honest --rounds 6 --format json");
    assert_eq!(said.status, 4, "{said:?}");
    let json = said.json();
    assert!(json["layers"][1]["reason"].as_str().unwrap().contains("libabsent"), "{json}");
    assert_eq!((&json["layers"][1]["cost"], &json["residue"]["ns"]), (&serde_json::Value::Null, &400.0.into()));
    assert_eq!((&json["adds_up"], &json["predicted_per_measured"]), (&"cannot tell".into(), &serde_json::Value::Null));
    assert!(json["sentence"].as_str().unwrap().starts_with("1 of the layers could not be measured"), "{json}");
}

#[test]
fn what_cannot_be_taken_apart_is_set_beside_its_floor_only() {
    let world = World::new(FAKE);
    let residue = "[[residue]]\nwhat = \"the rest\"\n";
    let page = format!("floor = [\"thread/noise\"]\n{}", mechanism(residue));
    world.write("share/switchcost/mechanisms/thread/honest.toml", &page);
    let said = world.run("explain thread/honest --rounds 6");
    assert_eq!(said.status, 0, "{said:?}");
    for words in ["what thread/noise costs", "No breakdown yet", "probably: the rest"] {
        assert!(said.out.contains(words), "{words}: {said:?}");
    }
    let json = world.run("explain thread/honest --stored --format json").json();
    for nothing in ["adds_up", "predicted_per_measured"] {
        assert_eq!(json[nothing], serde_json::Value::Null, "{json}");
    }
    assert_eq!(json["residue_is"]["what"], "the rest");
    assert!(!world.run("explain").out.contains("thread/honest ("));
}

#[test]
fn a_factor_is_a_count_of_the_evidence() {
    // Of five switches three block and two preempt.
    let counted = "[[layer]]\nname = \"calls\"\nwhy = \"a test\"\n\
        from = [{ mechanism = \"thread/noise\", parameters = { ticks = \"200\" }, times = 2.0, per = \"voluntary\" }]\n\
        minus = [{ mechanism = \"thread/noise\", parameters = { ticks = \"100\" }, per = \"involuntary\" }]\n";
    let world = World::new(FAKE);
    let write = |layers: &str| world.write("share/switchcost/mechanisms/thread/preempts.toml", &mechanism(layers));
    // A whole number of fives a batch, so that the share is exact.
    write(counted);
    let json = world.run("explain thread/preempts --rounds 6 --format json").json();
    let calls = json["layers"][0]["cost"]["ns"].as_f64().unwrap();
    assert!((calls - 200.0).abs() < 0.01, "0.6 × 2 × 200 − 0.4 × 100: {json}");
    assert!((json["residue"]["ns"].as_f64().unwrap() - 800.0).abs() < 0.01, "{json}");
    let terms = "2 × voluntary × thread/noise ticks=200 − involuntary × thread/noise ticks=100";
    assert_eq!(json["layers"][0]["terms"], terms);
    write(&counted.replace("per = \"involuntary\"", "per = \"sneezes\""));
    world.run("explain thread/preempts").refuses(2, &["preempts.toml", "sneezes", "involuntary, voluntary"]);
}

#[test]
fn a_residue_has_a_name_and_other_rows_are_named() {
    let of_fifo = layer("parts", &[term(DONOR, 100, 1.0)], &[]).replace("why", "parameters = { ticks = \"500\" }\nwhy");
    let residue = "[[residue]]\nwhat = \"dust\"\ntest = \"a broom\"\n";
    let world = world(&[layer("all", &[term(DONOR, 600, 1.0)], &[]), of_fifo, residue.into()].concat());
    let said = world.run("explain thread/honest --rounds 6");
    for words in [
        "unexplained rest, probably: dust; what would show it: a broom",
        "other rows with layers: `thread/honest one_cpu ticks=500`",
    ] {
        assert!(said.words().contains(words), "{words}: {said:?}");
    }
    let json = world.run("explain thread/honest --stored --format json").json();
    assert_eq!((&json["residue_is"]["what"], &json["residue_is"]["test"]), (&"dust".into(), &"a broom".into()));
    let of_fifo = ["explain", "thread/honest ticks=500", "--rounds", "6", "--format", "json"];
    let json = world.run_words(&of_fifo).json();
    assert_eq!((&json["residue"]["ns"], &json["residue_is"]), (&400.0.into(), &serde_json::Value::Null));
    world.write(
        "share/switchcost/mechanisms/thread/honest.toml",
        &mechanism(&"[[residue]]\nwhat = \"dust\"\n".repeat(2)),
    );
    world.run("explain thread/honest").refuses(2, &["thread/honest.toml", "residue", "has one already"]);
}

#[test]
fn bad_input_is_one_sentence() {
    let fine = world(&layer("all", &[term(DONOR, 1000, 1.0)], &[]));
    fine.run("explain thread/honset").refuses(2, &["thread/honset", "did you mean `thread/honest`"]);
    fine.run("explain zzz").refuses(2, &["zzz"]);
    let only = mechanism("").replace("experiments = [\"switch\"]", "experiments = [\"create\"]");
    fine.write("share/switchcost/mechanisms/thread/sized.toml", &only);
    fine.run("explain thread/sized").refuses(2, &["thread/sized has no switch to explain, only experiment create"]);
    fine.run("explain thread/honest --stored").refuses(3, &["no stored run"]);
    for (words, said) in [("nothing=1", "no such parameter"), ("ticks=x", "ticks"), ("contexts=3", "contexts=3")] {
        fine.run_words(&["explain", &format!("thread/honest {words}")]).refuses(2, &[said]);
    }
    for (layers, words) in [
        (layer("x", &[], &[]), "at least one entry"),
        (layer("x", &[term("honest", 1, 1.0)], &[]), "cannot explain itself"),
        (layer("x", &[term("nowhere", 1, 1.0)], &[]), "thread/nowhere"),
        (layer("x", &[term(DONOR, 1, -1.0)], &[]), "not above 0"),
        (layer("x", &[term(DONOR, 1, 1.0)], &[]).replace("why =", "wy ="), "wy"),
        (layer("x", &[term(DONOR, 2_000_000_000, 1.0)], &[]), "ticks"),
    ] {
        world(&layers).run("explain thread/honest").refuses(2, &["thread/honest.toml", words]);
    }
}
