//! The forms that other programs read, each read by that program or held against its schema.

use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::Write as _;
use std::process::{Command, Output, Stdio};
use switchcost_e2e::{World, repository, two_kinds, with};

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

/// A store with one run: a row at 1000 ns, one at 1100, one that its evidence contradicts, one that
/// cannot run and one that crashes.
fn measured() -> World {
    let world = World::new(FAKE);
    let said = world.run("run thread/honest thread/liar thread/absent thread/crash --param ticks=1000,1100 --rounds 6");
    assert_eq!(said.status, 5, "{said:?}");
    world
}

fn export(world: &World, form: &str) -> String {
    export_of(world, "latest", form)
}

fn export_of(world: &World, run: &str, form: &str) -> String {
    let said = world.run(&format!("export {run} --format {form}"));
    assert_eq!(said.status, 0, "{said:?}");
    said.out
}

/// A reader of tests/readers, with what scripts/setup installed for it; None, said aloud, where
/// that is not here.
fn reader(name: &str, arguments: &[&str]) -> Option<Vec<String>> {
    let top = repository();
    let (readers, duckdb) = (top.join("target/runtimes/readers"), top.join("target/runtimes/duckdb"));
    if !readers.is_dir() || !duckdb.is_dir() {
        switchcost_e2e::untested("its readers are not here: scripts/setup test could not install them");
        return None;
    }
    let said = Command::new("python3")
        .arg(top.join("tests/readers").join(name))
        .args(arguments)
        .env("PYTHONPATH", std::env::join_paths([readers, duckdb]).unwrap())
        .output()
        .unwrap();
    Some(lines(said))
}

fn lines(said: Output) -> Vec<String> {
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    String::from_utf8(said.stdout).unwrap().lines().map(str::to_owned).collect()
}

fn junit(world: &World, name: &str) -> Option<Vec<String>> {
    let schema = repository().join("target/runtimes/junit/junit-10.xsd");
    reader("junit.py", &[schema.to_str().unwrap(), world.path(name).to_str().unwrap()])
}

/// Asserts that a document fits a schema, and that the schema does not take everything.
fn fits(schema: &Value, document: &str, wrong: &Value) {
    let schema = jsonschema::validator_for(schema).unwrap();
    let document = serde_json::from_str(document).unwrap();
    let faults: Vec<String> = schema.iter_errors(&document).map(|fault| fault.to_string()).collect();
    assert_eq!(faults, [] as [String; 0]);
    assert!(!schema.is_valid(wrong));
}

const HONEST: &str = "thread/honest/probe=fake/experiment=switch/contexts=2/timing=batch/ticks=1000/placement=one_cpu";

/// A form that jq makes of the JSON as docs/ci.md says.
fn by_jq(json: &str, form: &str) -> Option<String> {
    let page = std::fs::read_to_string(repository().join("docs/ci.md")).unwrap();
    let line = page.split('`').find(|word| word.ends_with(&format!("contrib/jq/{form}.jq"))).unwrap();
    let mut jq = Command::new("sh")
        .args(["-c", &format!("command -v jq >/dev/null || exit 127; {line}")])
        .current_dir(repository())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It may have ended already.
    let _ = jq.stdin.take().unwrap().write_all(json.as_bytes());
    let said = jq.wait_with_output().unwrap();
    if said.status.code() == Some(127) {
        switchcost_e2e::untested("jq is not here: scripts/setup test could not install it");
        return None;
    }
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    Some(String::from_utf8(said.stdout).unwrap())
}

/// Of kept runs they are what `export` wrote when it had these forms, byte by byte.
#[test]
fn lines_of_jq_make_the_forms_that_they_replace() {
    // By our own pages: which batches are undisturbed follows from them.
    let Some(real) = switchcost_e2e::Real::new(FAKE) else { return };
    let file = repository().join("data/example/answers/goroutine-1.jsonl").display().to_string();
    let json = real.run(&format!("export {file} --format json")).out;
    for form in ["bencher", "github"] {
        let Some(made) = by_jq(&json, form) else { return };
        assert_eq!(
            made,
            std::fs::read_to_string(repository().join(format!("tests/jq/{form}.json"))).unwrap(),
            "{form}"
        );
    }
}

/// Its parser is in no registry; the schema is what its README asks of `customSmallerIsBetter`, and
/// what src/extract.ts takes.
#[test]
fn github_action_benchmark_takes_a_run() {
    let Some(text) = by_jq(&export(&measured(), "json"), "github") else { return };
    let entry = json!({
        "type": "object",
        "required": ["name", "unit", "value"],
        "additionalProperties": false,
        "properties": {
            "name": { "type": "string", "minLength": 1 },
            "unit": { "type": "string", "minLength": 1 },
            "value": { "type": "number" },
            "range": { "type": "string" },
            "extra": { "type": "string" }
        }
    });
    let schema = json!({ "type": "array", "minItems": 1, "items": entry });
    fits(&schema, &text, &json!([{ "name": "x", "unit": "ns", "value": "1" }]));
    let entries: Vec<Value> = serde_json::from_str(&text).unwrap();
    assert_eq!(entries.len(), 2, "what is contradicted or cannot run has no figure: {text}");
    assert_eq!((&entries[0]["name"], &entries[0]["unit"]), (&json!(HONEST), &json!("ns/switch")));
    assert_eq!((&entries[0]["value"], &entries[1]["value"]), (&json!(1000), &json!(1100)));
    assert_eq!(entries[0]["range"], "± 0.000");
}

/// By the schema that Bencher publishes for version 0
/// (<https://bencher.dev/docs/reference/bencher-metric-format>).
#[test]
fn bencher_takes_a_run() {
    let Some(text) = by_jq(&export(&measured(), "json"), "bencher") else { return };
    let metric = json!({
        "type": "object",
        "properties": {
            "value": { "type": "number" }, "lower_value": { "type": "number" }, "upper_value": { "type": "number" }
        },
        "required": ["value"],
        "additionalProperties": false
    });
    let measures = json!({ "type": "object", "patternProperties": { ".+": metric } });
    let schema = json!({ "type": "object", "patternProperties": { ".+": measures } });
    fits(&schema, &text, &json!({ "x": { "latency": 1.0 } }));
    let benchmarks: Value = serde_json::from_str(&text).unwrap();
    let latency = &benchmarks[HONEST]["latency"];
    assert_eq!(*latency, json!({ "value": 1000, "lower_value": 1000, "upper_value": 1000 }));
    assert!(benchmarks.as_object().unwrap().keys().all(|name| name.len() <= 1024));
}

/// With a gate and without: what fails, what could have missed a difference, and the gate itself.
#[test]
fn readers_of_junit_take_a_comparison() {
    let world = measured();
    let file = world.path("compared.xml");
    let compare = |words: &[&str]| {
        let form = format!("junit={}", file.display());
        let operands = ["compare", "thread/honest", "thread/honest ticks=1100", "--format", &form];
        world.run_words(&[&operands[..], words].concat()).status
    };
    assert_eq!(compare(&["--gate", "5%"]), 1);
    let Some(failed) = junit(&world, "compared.xml") else { return };
    assert_eq!(failed[0], "switchcost compare|2|2|0|0");
    assert_eq!(failed[1..], ["switchcost|thread/honest ticks=1100|Failure", "switchcost|gate 5.0 %|Failure"]);
    assert_eq!(compare(&["--gate", "15%"]), 0);
    assert_eq!(junit(&world, "compared.xml").unwrap()[0], "switchcost compare|2|0|0|0");
    assert_eq!(compare(&[]), 0);
    assert_eq!(junit(&world, "compared.xml").unwrap()[0], "switchcost compare|1|1|0|0");
}

/// A case says what the verdict says, in its words, and of what.
#[test]
fn the_words_of_junit_are_those_of_the_verdict() {
    let world = measured();
    let said = |a: &str, b: &str| world.run_words(&["compare", a, b, "--format", "junit"]).out;
    let slower = said("thread/honest", "thread/honest ticks=1100");
    assert!(slower.contains("10 % slower than thread/honest, interval "), "{slower}");
    let [own, copy, kinds] = [("own", 0), ("copy", 1), ("kinds", 2)].map(|(name, which)| {
        world.forged(name, |text| {
            let text = with(text, "\"id\":\"", &format!("2027010{}T000000-0000", which + 1));
            if which == 2 { two_kinds(&text) } else { text }
        })
    });
    let same = said(&own, &copy);
    assert!(same.contains("same within ") && same.contains(" as A, interval "), "{same}");
    // Modes on one side that reach into the other: neither slower nor faster, by no interval.
    let unknown = said(&own, &kinds);
    assert!(unknown.contains("inconclusive against A; "), "{unknown}");
    for wrong in ["slower", "faster"] {
        assert!(!format!("{same}{unknown}").contains(wrong), "{wrong}: {same}{unknown}");
    }
}

#[test]
fn prometheus_takes_a_run() {
    let world = measured();
    let file = world.path("switchcost.prom");
    let said = world.run(&format!("export --format prometheus -o {}", file.display()));
    assert_eq!(said.status, 0, "{said:?}");
    let text = std::fs::read_to_string(&file).unwrap();
    let series = |name: &str| text.lines().filter(|line| line.starts_with(&format!("{name}{{"))).count();
    let counts =
        ["seconds", "low_seconds", "high_seconds", "verified"].map(|name| series(&format!("switchcost_{name}")));
    assert_eq!(counts, [2, 2, 2, 8], "{text}");
    assert!(text.contains("parameters=\"ticks=1000\",unit=\"switch\"} 1e-6\n"), "{text}");
    // The collector refuses a series that stands in two files: another run of the same rows has
    // none in common.
    assert_eq!(world.run("run thread/honest --rounds 6 --batches 2").status, 0);
    let other = world.run("export --format prometheus").out;
    let names = |text: &str| -> BTreeSet<String> {
        let series = text.lines().filter(|line| !line.starts_with('#'));
        series.map(|line| line.rsplit_once(' ').unwrap().0.to_owned()).collect()
    };
    assert!(names(&other).len() > 4 && names(&other).is_disjoint(&names(&text)), "{other}");
    let Ok(mut promtool) =
        Command::new("promtool").args(["check", "metrics"]).stdin(Stdio::piped()).stderr(Stdio::piped()).spawn()
    else {
        return switchcost_e2e::untested("promtool is not here: scripts/setup test could not install it");
    };
    promtool.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let said = promtool.wait_with_output().unwrap();
    let found = String::from_utf8_lossy(&said.stderr);
    assert!(said.status.success() && found.is_empty(), "{found}");
}

/// A world, and a file with a run of one row, of two kinds of starts: 500 and 1000 ns.
fn with_modes() -> (World, String) {
    let world = World::new(FAKE);
    let said = world.run("run thread/honest --param ticks=1000 --rounds 12");
    assert_eq!(said.status, 0, "{said:?}");
    let file = world.forged("kinds", two_kinds);
    (world, file)
}

/// In every form it has a figure for each kind, and none that lies between.
#[test]
fn a_row_with_modes_is_one_number_in_no_form() {
    let (world, file) = with_modes();
    let prometheus = export_of(&world, &file, "prometheus");
    let series = |name: &str| {
        prometheus.lines().filter(|line| line.starts_with(&format!("switchcost_{name}{{mechanism"))).count()
    };
    let names = ["seconds", "low_seconds", "high_seconds", "mode_seconds", "mode_share"];
    assert_eq!(names.map(series), [0, 0, 0, 2, 2], "{prometheus}");
    let json = export_of(&world, &file, "json");
    let Some((bencher, github)) = by_jq(&json, "bencher").zip(by_jq(&json, "github")) else { return };
    let benchmarks: Value = serde_json::from_str(&bencher).unwrap();
    assert_eq!(benchmarks[HONEST], Value::Null);
    let latency = |mode: u32| benchmarks[format!("{HONEST}/mode={mode}")]["latency"].clone();
    assert_eq!([latency(1), latency(2)], [json!({ "value": 500 }), json!({ "value": 1000 })]);
    let entries: Vec<Value> = serde_json::from_str(&github).unwrap();
    let names: Vec<&str> = entries.iter().filter_map(|entry| entry["name"].as_str()).collect();
    assert_eq!(names, [format!("{HONEST}/mode=1"), format!("{HONEST}/mode=2")]);
    assert!(entries[1]["extra"].as_str().unwrap().ends_with("50 % of its starts"), "{entries:?}");
}

/// Of the kept ladder as well, whose probes have rulers.
#[test]
fn a_row_with_modes_has_no_single_figure() {
    let world = World::new(FAKE);
    let ladder = repository().join("data/example/ladder.jsonl").display().to_string();
    let run: Value = serde_json::from_str(&export_of(&world, &ladder, "json")).unwrap();
    let several = |row: &&Value| row["modes_of"] == "batches";
    for row in run["results"].as_array().unwrap().iter().filter(several) {
        for name in ["median", "low", "as_measured", "as_measured_high", "another_run_low"] {
            assert_eq!(row[name], Value::Null, "{name}: {row}");
        }
    }
}

#[test]
fn pandas_and_duckdb_take_the_table() {
    let world = measured();
    world.write("run.csv", &export(&world, "csv"));
    let Some(said) = reader("table.py", &[world.path("run.csv").to_str().unwrap()]) else { return };
    assert_eq!(said.len(), 8, "{said:?}");
    assert!(said.iter().any(|line| line.starts_with("thread/honest|1000.0|") && line.ends_with("|verified")));
    assert!(
        said.iter().any(|line| line.starts_with("thread/absent") && line.contains("|None|0|unsupported")),
        "{said:?}"
    );
}

#[test]
fn a_comparison_is_written_in_several_forms() {
    let world = measured();
    let forms = ["md", "json", "junit"].map(|form| format!("{form}={}", world.path(form).display()));
    let mut words = vec!["compare", "thread/honest", "thread/honest ticks=1100"];
    words.extend(forms.iter().flat_map(|form| ["--format", form]));
    let said = world.run_words(&words);
    assert_eq!(said.status, 0, "{said:?}");
    assert!(said.out.starts_with("thread/honest ticks=1100 against thread/honest: "), "{said:?}");
    let [markdown, json, xml] = ["md", "json", "junit"].map(|form| std::fs::read_to_string(world.path(form)).unwrap());
    assert!(markdown.contains("\n|") && xml.starts_with("<?xml"), "{markdown}{xml}");
    assert!(xml.contains("10 % slower than thread/honest, interval "), "{xml}");
    // As the table says it: no ratio is below one.
    let faster = ["compare", "thread/honest ticks=1100", "thread/honest"];
    let [table, xml] = ["table", "junit"].map(|form| world.run_words(&[&faster[..], &["--format", form]].concat()).out);
    let interval =
        xml.split("% faster than thread/honest ticks=1100, interval ").nth(1).unwrap().split('"').next().unwrap();
    let interval = interval.split("</").next().unwrap();
    assert!(table.contains(&format!("{interval}  ")) && !xml.contains("0.9"), "{table}{xml}");
    assert_eq!(serde_json::from_str::<Value>(&json).unwrap()["comparisons"][0]["verdict"], "slower");
    let twice = ["--format", &forms[0], "--format", &format!("json={}", world.path("md").display())];
    world.run_words(&[&words[..3], &twice].concat()).refuses(2, &["--format", "md is named twice", "of its own"]);
    world.run("compare a b --format txt").refuses(2, &["--format", "table, md, json, junit"]);
}
