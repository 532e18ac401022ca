//! Names of runs, trends over them, and what other tools read, with the real binary.

use serde_json::Value;
use std::process::Command;
use switchcost_e2e::{World, repository, sealed, two_kinds};

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

/// A world with one run of these ticks.
fn measured(ticks: &str) -> World {
    let world = World::new(FAKE);
    measure(&world, ticks);
    world
}

/// Stores a run without what else went on while it was measured: that is not what is tested here.
fn measure(world: &World, ticks: &str) {
    let elsewhere = world.path("elsewhere/runs.sqlite");
    let command = format!("run thread/honest --param ticks={ticks} --rounds 6 --batches 2");
    let said = world.run(&format!("{command} --store {}", elsewhere.display()));
    assert_eq!(said.status, 0, "{said:?}");
    let quiet = |line: &str| match line.split_once("\"disturbances\":[") {
        Some((before, rest)) => {
            format!("{before}\"disturbances\":[],\"log\":{}\n", rest.split_once("],\"log\":").unwrap().1)
        }
        None => format!("{line}\n"),
    };
    let exported = world.run(&format!("export --store {}", elsewhere.display())).out;
    keep(world, &body(&exported).lines().map(quiet).collect::<String>());
    std::fs::remove_dir_all(elsewhere.parent().unwrap()).unwrap();
}

/// The lines of a run file but the last, which holds their checksum.
fn body(exported: &str) -> String {
    format!("{}\n", exported.trim_end().rsplit_once('\n').unwrap().0)
}

/// Stores a run as if it had been measured here and now.
fn keep(world: &World, body: &str) {
    let run = switchcost_store::import_jsonl(&mut sealed(body).as_bytes()).unwrap().run;
    let mut store = switchcost_store::Store::open(&world.store()).unwrap();
    store.begin_run(&switchcost_model::Run { invocations: Vec::new(), ..run.clone() }).unwrap();
    run.invocations.iter().for_each(|invocation| store.add_invocation(&run.id, invocation).unwrap());
    store.finish_run(&run).unwrap();
}

#[test]
fn a_baseline_is_an_operand_and_a_gate() {
    let world = measured("1000,2000");
    assert_eq!(world.run("baseline set v1.0").status, 0);
    let first = world.run("baseline list --format json").json()["baselines"][0]["run"].clone();
    measure(&world, "1000,2000");
    let said = world.run("compare baseline:v1.0 latest --gate 5% --format json");
    assert_eq!(said.status, 0, "{said:?}");
    assert_eq!(said.json()["comparisons"][0]["a"]["run"], first);
    assert_ne!(said.json()["comparisons"][0]["b"]["run"], first);
    let row =
        world.run_words(&["compare", "baseline:v1.0:thread/honest", "latest:thread/honest ticks=2000", "--gate", "5%"]);
    assert_eq!(row.status, 1, "{row:?}");
    assert_eq!(world.run("export baseline:v1.0 --format json").json()["run"]["id"], first);
    assert_eq!(world.run("export baseline:v1.0 --format csv").status, 0);
    assert!(world.run("baseline list").out.contains("v1.0"));
    assert_eq!(world.run("baseline remove v1.0").status, 0);
    assert!(world.run("baseline list").out.starts_with("No run has a name yet"));
}

#[test]
fn a_run_from_the_future_is_neither_the_latest_nor_fresh() {
    let world = measured("1000,2000");
    let exported = world.run("export").out;
    let id = exported.split_once("\"id\":\"").unwrap().1.split_once('"').unwrap().0;
    keep(
        &world,
        &started_at(&body(&exported).replace(id, "30000101T000000-f0f0"), "\"started_unix_ns\":9000000000000000000"),
    );
    let ahead = "run 30000101T000000-f0f0: its date, 2255-03-14 16:00:00 UTC, lies in the future";
    let latest = world.run("export latest --format json");
    assert!(latest.json()["run"]["id"] == "30000101T000000-f0f0" && latest.err.contains(ahead), "{latest:?}");
    measure(&world, "1000,3000");
    let now = world.run("export latest --format json");
    let now = (now.json()["run"]["id"].as_str().unwrap().to_owned(), now.err);
    assert!(now.0.starts_with('2') && now.1.is_empty(), "{now:?}");
    assert_eq!(world.run("history --format json").json()["runs"][0]["id"], now.0.as_str());
    assert!(world.run_words(&["show", "thread/honest ticks=2000"]).out.contains("30000101T000000-f0f0"));
    for command in ["show latest~1", "export latest~1", "compare latest~1 latest", "history", "history thread/honest"] {
        assert!(world.run(command).err.contains(ahead), "{command}");
    }
    // An import is not the latest, whatever its date.
    let file = world.forged("other", |run| run.replace(&now.0, "29990101T000000-abcd"));
    assert_eq!(world.run(&format!("import {file}")).status, 0);
    assert_eq!(world.run("export latest --format json").json()["run"]["id"], now.0.as_str());
    assert_eq!(world.run("baseline set a").out.split_whitespace().nth(4), Some(&*format!("{};", now.0)));
    let history = world.run("history").out;
    assert!(history.lines().last().unwrap().ends_with("(imported)"), "{history}");
}

#[test]
fn a_price_from_the_future_is_measured_anew() {
    let world = World::new(FAKE);
    let measured_by_audit = || {
        let said = world.run("audit -- sleep 0.1");
        assert_eq!(said.status, 0, "{said:?}");
        (world.run("history --format json").json()["runs"].as_array().unwrap().len(), said.err)
    };
    assert_eq!((measured_by_audit().0, measured_by_audit().0), (1, 1));
    let run = world.run("export --private-facts").out;
    std::fs::remove_dir_all(world.store().parent().unwrap()).unwrap();
    keep(&world, &started_at(&body(&run), "\"started_unix_ns\":9000000000000000000"));
    let (runs, said) = measured_by_audit();
    assert!(runs == 2 && said.contains("lies in the future"), "{runs}: {said}");
}

#[test]
fn bad_baselines_are_one_sentence() {
    let world = World::new(FAKE);
    for command in ["baseline list", "baseline set a", "baseline remove a"] {
        world.run(command).refuses(2, &["there is no store"]);
    }
    assert!(!world.store().exists(), "asking for a name made a store");
    measure(&world, "1000");
    assert_eq!(world.run("baseline set a").status, 0);
    assert_eq!(world.run("baseline set a latest").status, 0, "the same again");
    measure(&world, "1000");
    world.run("baseline set a").refuses(2, &["baseline `a`", "--replace"]);
    world.run("baseline set b nowhere").refuses(2, &["nowhere"]);
    world.run_words(&["baseline", "set", "a b"]).refuses(2, &["`a b`", "letters"]);
    world.run("baseline remove b").refuses(2, &["`b`", "there are a"]);
    world.run("compare baseline:b latest").refuses(2, &["no baseline", "`b`", "there are a"]);
    let run = world.run("baseline list --format json").json()["baselines"][0]["run"].as_str().unwrap().to_owned();
    let delete = format!("PRAGMA foreign_keys = ON; DELETE FROM run WHERE id = '{run}'");
    rusqlite::Connection::open(world.store()).unwrap().execute_batch(&delete).unwrap();
    world.run("compare baseline:a latest --gate 5%").refuses(2, &["baseline `a`", &run, "gone", "--replace"]);
    assert!(world.run("baseline list").out.contains("(gone)"));
    assert_eq!(world.run("baseline set a --replace").status, 0);
    assert_eq!(world.run("show baseline:a").status, 0);
}

/// One run, stored `count` times; from the `step`th on its costs are `factor` times as high.
fn series(world: &World, count: usize, step: usize, factor: f64) {
    series_of(world, count, |i| wobble(i) * if i >= step { factor } else { 1.0 });
}

/// Runs are never exactly alike: a wobble of 1 %, the same in every test.
fn wobble(i: usize) -> f64 {
    1.0 + 0.01 * ((i * 7919 % 13) as f64 / 6.5 - 1.0)
}

/// One run, stored `count` times under other ids and dates, with costs `times` as high.
fn series_of(world: &World, count: usize, times: impl Fn(usize) -> f64) {
    stored(world, count, |i, text| scaled(text, times(i)));
}

fn scaled(text: &str, times: f64) -> String {
    text.replace("49360", &((49_360.0 * times) as u64).to_string())
}

/// A run file's text with another value of a field that holds a text.
fn with_text(text: &str, field: &str, value: &str) -> String {
    let (before, rest) = text.split_once(&format!("\"{field}\":\"")).unwrap_or_else(|| panic!("no {field}: {text}"));
    format!("{before}\"{field}\":\"{value}\"{}", rest.split_once('"').unwrap().1)
}

/// One run measured, stored `count` times under other ids and dates, each edited.
fn stored(world: &World, count: usize, edit: impl Fn(usize, &str) -> String) {
    let exported = world.run("export").out;
    let id = world.run("history --format json").json()["runs"][0]["id"].as_str().unwrap().to_owned();
    std::fs::remove_dir_all(world.store().parent().unwrap()).unwrap();
    for i in 0..count {
        let named = format!("{}-{i:04}", &id[..15]);
        let started = format!("\"started_unix_ns\":{}", 1_790_000_000_000_000_000_u64 + i as u64 * 86_400_000_000_000);
        keep(world, &started_at(&edit(i, &body(&exported).replace(&id, &named)), &started));
    }
}

/// The first line, the run's own, with another start.
fn started_at(text: &str, started: &str) -> String {
    let (run, rest) = text.split_once('\n').unwrap();
    let at = run.find("\"started_unix_ns\":").unwrap();
    let end = at + run[at..].find(',').unwrap();
    format!("{}{started}{}\n{rest}", &run[..at], &run[end..])
}

#[test]
fn a_trend_shows_where_the_level_changed() {
    let world = measured("1234,5000");
    series(&world, 14, 9, 1.05);
    let said = world.run_words(&["history", "thread/honest ticks=1234", "--format", "json"]);
    assert_eq!(said.status, 0, "{said:?}");
    let json = said.json();
    let trend = &json["trends"][0];
    assert_eq!((json["trends"].as_array().unwrap().len(), trend["points"].as_array().unwrap().len()), (1, 14));
    let changes = trend["changes"].as_array().unwrap();
    assert_eq!(changes.len(), 1, "{trend:#}");
    let end = |field: &str| changes[0][field].as_str().unwrap().rsplit_once('-').unwrap().1.to_owned();
    assert_eq!((end("before"), end("after")), ("0008".into(), "0009".into()));
    let (low, high) = (changes[0]["interval"][0].as_f64().unwrap(), changes[0]["interval"][1].as_f64().unwrap());
    assert!(low <= 1.05 && 1.05 <= high && low > 1.03 && high < 1.07, "{changes:?}");
    let text = world.run("history thread/honest --last 12").out;
    assert!(
        text.contains("5.") && text.contains("slower") && text.contains("changed") && !text.contains("0001"),
        "{text}"
    );
    let text = world.run("history thread/honest --last 12 -v").out;
    assert!(text.contains('●') && text.contains("-0009 ") && text.matches("12 runs").count() == 2, "{text}");
    // Fewer runs than can show anything say so.
    let few = world.run("history thread/honest --last 6").out;
    assert!(few.starts_with("6 runs are too few to find a change, which takes "), "{few}");
    let schema: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(repository().join("docs/history.schema.json")).unwrap()).unwrap();
    jsonschema::validate(&schema, &json).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn trends_are_of_one_machine_and_one_method() {
    let world = measured("1234");
    stored(&world, 4, |i, text| {
        let text = scaled(text, wobble(i));
        match i {
            1 => with_text(&text, "cpu.model", "other"),
            2 => text.replacen("\"method_version\":1,", "\"method_version\":0,", 1),
            _ => text,
        }
    });
    let points = |extra: &str| {
        let said = world.run(&format!("history thread/honest --format json {extra}"));
        (said.json()["trends"][0]["points"].as_array().unwrap().len(), said.json()["notes"].to_string())
    };
    assert_eq!(points("").0, 2);
    assert!(points("").1.contains("1 runs of earlier versions"), "{:?}", points(""));
    assert_eq!(points("--machine all").0, 2);
    assert_eq!(points("--machine all --last 1").0, 1);
    assert_eq!(points("--machine all --since 2026-09-24").0, 1);
    world.run("history thread/honest --machine ffffffff").refuses(2, &["ffffffff", "--machine all", "3 runs"]);
    world.run("history nothing/here").refuses(2, &["nothing/here"]);
    world.run("history [").refuses(2, &["`[`", "pattern"]);
    world.run("history --since yesterday").refuses(2, &["--since", "30d"]);
    for words in ["history --since 2200-01-01", "history thread/honest --machine all --since 2200-01-01"] {
        world.run(words).refuses(2, &[" stored runs is as young as --since says, 2200-01-01", "the newest is of 20"]);
    }
    world.run("history --last 0").refuses(2, &["--last"]);
    assert_eq!(world.run("history --format json").json()["runs"].as_array().unwrap().len(), 4);
    assert_eq!(world.run("history --last 2 --format json").json()["runs"].as_array().unwrap().len(), 2);
}

/// Three machines, of which one had updates: a block for each, and in it the place of each update.
#[test]
fn every_machine_is_a_block_and_an_update_is_no_other_machine() {
    let world = measured("1234");
    stored(&world, 8, |i, text| {
        let set = |text: String, fact: &str, value: &str| with_text(&text, fact, value);
        let text = set(scaled(text, wobble(i)), "kernel.release", if matches!(i, 2 | 3) { "6.12.1" } else { "6.1.0" });
        let text = set(text, "libc", if i == 3 { "glibc 2.41" } else { "glibc 2.36" });
        match i {
            4 | 5 => set(set(text, "cpu.model", "other"), "cpu.model_name", "Ryzen \\u001b[31m"),
            6 | 7 => set(text, "hypervisor", "another"),
            _ => text,
        }
    });
    let said = world.run("history thread/honest --format json");
    let json = said.json();
    let trend = &json["trends"][0];
    assert_eq!(trend["points"].as_array().unwrap().len(), 4, "{said:?}");
    let changed: Vec<String> = (0..4).map(|i| trend["points"][i]["changed"].to_string()).collect();
    assert_eq!(changed, ["[]", "[]", "[\"kernel.release: 6.1.0 → 6.12.1\"]", "[\"libc: glibc 2.36 → glibc 2.41\"]"]);
    let software: Vec<&Value> = (0..4).map(|i| &trend["points"][i]["software"]).collect();
    assert!(software[0] == software[1] && software[1] != software[2] && software[2] != software[3], "{software:?}");
    let text = world.run("history thread/honest").out;
    assert!(text.contains("  kernel\n") && text.contains("→ 6.12.1") && text.contains("→ libc"), "{text}");
    assert!(!text.contains("Ryzen"), "{text}");

    let all = world.run("history thread/honest --machine all --format json").json();
    let keys: Vec<&str> = all["machines"].as_array().unwrap().iter().map(|m| m["key"].as_str().unwrap()).collect();
    assert_eq!(keys.len(), 3, "{all:#}");
    let points = |key: &str| {
        all["trends"].as_array().unwrap().iter().find(|trend| trend["machine"] == key).unwrap()["points"]
            .as_array()
            .unwrap()
            .len()
    };
    assert_eq!(keys.iter().map(|key| points(key)).collect::<Vec<_>>(), [2, 2, 4]);
    let schema = std::fs::read_to_string(repository().join("docs/history.schema.json")).unwrap();
    let schema = serde_json::from_str(&schema).unwrap();
    for document in [&all, &world.run("history --format json").json()] {
        jsonschema::validate(&schema, document).unwrap_or_else(|error| panic!("{error}"));
    }
    let text = world.run("history thread/honest --machine all").out;
    let headings: Vec<&str> = text.lines().filter(|line| line.contains(" · machine ")).collect();
    assert!(headings.len() == 3 && keys.iter().zip(&headings).all(|(key, heading)| heading.contains(key)), "{text}");
    assert!(headings[1].starts_with("Ryzen") && !text.contains('\u{1b}') && headings[0].contains("another"), "{text}");
    assert_eq!(
        world.run(&format!("history thread/honest --machine {} --format json", &keys[1][..8])).json()["machines"],
        serde_json::json!([all["machines"][1]])
    );
    world.run("history thread/honest --machine 0123zz").refuses(2, &["0123zz", keys[1], "Ryzen", "--machine all"]);

    let list = world.run("history").out;
    assert!(list.lines().next().unwrap().contains("machine") && keys.iter().all(|key| list.contains(key)), "{list}");
    assert!(list.contains("6.12.1") && !world.run("history --last 2").out.contains("kernel"), "{list}");
    assert_eq!(world.run("history --format json").json()["runs"][0]["machine"], keys[0]);
}

/// A run file's text in which a single context took all turns.
fn alone(text: &str) -> String {
    let text = text.replace("\"contexts\":2", "\"contexts\":1");
    let mut parts = text.split("\"turns\":{\"total\":");
    let mut changed = parts.next().unwrap().to_owned();
    for part in parts {
        let (total, rest) = part.split_once(',').unwrap();
        let (_, rest) = rest.split_once(",\"contexts\"").unwrap();
        changed += &format!("\"turns\":{{\"total\":{total},\"min\":{total},\"max\":{total},\"contexts\"{rest}");
    }
    changed
}

/// Equal instances of a cloud are two machines, whoever imported their runs in which order.
#[test]
fn equal_hosts_are_machines_of_their_own_and_a_trend_goes_by_time() {
    let world = measured("1234");
    stored(&world, 6, |i, text| {
        let text = with_text(&scaled(text, wobble(i)), "container", "none seen");
        let host = format!("\"personal\":{{\"host_name\":\"{}\"}}", ["a", "b"][i % 2]);
        text.replacen("\"personal\":{}", &host, 1)
    });
    let machines = |option: &str| -> Vec<String> {
        let json = world.run(&format!("history thread/honest --machine {option} --format json")).json();
        json["machines"].as_array().unwrap().iter().map(|one| one["key"].as_str().unwrap().to_owned()).collect()
    };
    let all = machines("all");
    let key = all[0].strip_suffix("@b").unwrap();
    assert_eq!(all[1..], [format!("{key}@a")]);
    assert_eq!((machines(key), machines(&all[1])), (all.clone(), vec![all[1].clone()]));
    // In the store it stands behind all that was measured here; in time before some.
    let between = world.forged("between", |text| {
        let text = with_text(text, "id", "20260924T000000-0001");
        let text = text.replacen("\"personal\":{}", "\"personal\":{\"host_name\":\"a\"}", 1);
        started_at(&text, "\"started_unix_ns\":1790000000000000001")
    });
    assert_eq!(world.run(&format!("import {between}")).status, 0);
    let json = world.run(&format!("history thread/honest --machine {} --format json", all[1])).json();
    assert_eq!(json["trends"][0]["points"][1]["run"], "20260924T000000-0001", "{json}");
    assert!(json["notes"].to_string().contains("1 of 4 runs were imported"), "{json}");
}

/// What a label leaves out is told where two rows of a machine differ in it. A parameter that the
/// mechanism got later is not another row.
#[test]
fn no_label_stands_twice() {
    let world = measured("1234,1000");
    series(&world, 3, 3, 1.0);
    let labels = || -> Vec<(String, usize)> {
        let json = world.run("history thread/honest --format json").json();
        let of =
            |trend: &Value| (trend["label"].as_str().unwrap().to_owned(), trend["points"].as_array().unwrap().len());
        json["trends"].as_array().unwrap().iter().map(of).collect()
    };
    let before = labels();
    assert_eq!(before.len(), 2, "{before:?}");
    stored(&world, 3, |i, text| if i == 0 { alone(text) } else { text.to_owned() });
    let after = labels();
    let mut told: Vec<&str> = after.iter().map(|(label, _)| label.as_str()).collect();
    told.sort_unstable();
    told.dedup();
    assert_eq!((after.len(), told.len()), (4, 4), "{after:?}");
    assert!(told.iter().all(|label| label.contains(" contexts=1") || label.contains(" contexts=2")), "{told:?}");
}

/// Runs that are like the run before wander: that is said, and is not a change.
#[test]
fn drift_is_said_and_is_no_change() {
    let world = measured("1234");
    let wave = |i: usize| 1.0 + 0.1 * (i as f64 / 3.0).sin();
    let said = |form: &str| world.run(&format!("history thread/honest {form}"));
    series_of(&world, 20, wave);
    let trend = said("--format json").json()["trends"][0].clone();
    assert_eq!(trend["changes"], serde_json::json!([]), "{trend:#}");
    assert!(trend["undecided"].as_u64() > Some(0) && trend["autocorrelation"].as_f64() > Some(0.6), "{trend:#}");
    let text = said("").words();
    assert!(text.contains("(autocorrelation 0.") && text.contains("drift would look the same"), "{text}");
}

/// The text of a run with rulers beside its batches, of which that of the core takes `width`.
fn with_rulers(text: &str, width: u64) -> String {
    const BATCHES: &str = "\"quantity\":null,\"ticks\":[";
    let mut parts = text.split(BATCHES);
    let mut all = parts.next().unwrap().to_owned();
    for part in parts {
        let (ticks, rest) = part.split_once(']').unwrap();
        let list = |ns: u64| ticks.split(',').map(|_| ns.to_string()).collect::<Vec<_>>().join(",");
        let rulers = format!("{{\"chain\":[{}],\"width\":[{}]}}", list(580), list(width));
        all.push_str(&format!("{BATCHES}{ticks}],\"rulers\":{rulers}{rest}"));
    }
    all
}

/// Of three runs in a row a neighbour never left the core: they are shown with how much slower it
/// was, and are not a level.
#[test]
fn runs_of_a_core_that_was_never_free_are_not_judged() {
    let world = measured("1234");
    let slow = |i: usize| (6..9).contains(&i);
    stored(&world, 16, |i, text| {
        let text = text.replace("49360", if slow(i) { "66400" } else { "49360" });
        with_rulers(&text, if slow(i) { 430 } else { 280 })
    });
    let trend = world.run("history thread/honest --format json").json()["trends"][0].clone();
    assert_eq!(trend["changes"], serde_json::json!([]), "{trend:#}");
    for (i, point) in trend["points"].as_array().unwrap().iter().enumerate() {
        let (times, reason) =
            if slow(i) { (430.0 / 280.0, "slowed throughout, ×1.54".into()) } else { (1.0, Value::Null) };
        assert_eq!((point["slowed"].as_f64(), &point["reason"]), (Some(times), &reason), "{point:#}");
    }
    let text = world.run("history thread/honest").out;
    assert!(text.contains("CPU slower") && text.contains("×1.54"), "{text}");
}

#[test]
fn benchstat_reads_the_export() {
    let world = measured("1000,1100");
    let files = ["a.txt", "b.txt"].map(|name| {
        let path = world.path(name);
        assert_eq!(world.run(&format!("export --format benchstat -o {}", path.display())).status, 0);
        measure(&world, "1000,1210");
        path
    });
    let text = std::fs::read_to_string(&files[0]).unwrap();
    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("Benchmark")).collect();
    assert!(lines.len() >= 12, "{text}");
    let name =
        "BenchmarkThread/honest/probe=fake/experiment=switch/contexts=2/timing=batch/ticks=1100/placement=one_cpu";
    assert!(lines.contains(&format!("{name} 1 1100.0000 ns/op").as_str()), "{text}");
    // The tool itself, where Go is and can fetch it.
    let output = Command::new("go")
        .args(["tool", "benchstat", "-format", "csv"])
        .args(&files)
        .current_dir(repository().join("tests/benchstat"))
        .output();
    match output {
        Ok(output) if output.status.success() => {
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(said.contains("ticks=1100/placement=one_cpu,1.1e-06,"), "{said}");
            // Both files are columns of one table.
            let common = said.lines().find(|line| line.contains("ticks=1000/placement=one_cpu,")).unwrap();
            assert!(common.contains('~'), "{said}");
        }
        other => println!("benchstat is not here: {other:?}"),
    }
}

/// The command of docs/batches.sql, with the real DuckDB.
#[test]
fn duckdb_makes_a_table_of_every_batch() {
    let duckdb = repository().join("target/runtimes/duckdb");
    if !duckdb.is_dir() {
        return switchcost_e2e::untested("duckdb is not here: scripts/setup test could not install it");
    }
    let world = measured("1000,1100");
    for form in ["jsonl", "csv"] {
        let file = world.path(&format!("run.{form}"));
        assert_eq!(world.run(&format!("export --format {form} -o {}", file.display())).status, 0);
    }
    let ask = "import duckdb, sys; duckdb.execute(open(sys.argv[1]).read()); \
        [print(*row, sep='|') for row in duckdb.execute(\"SELECT label, unit, phase, ticks, value FROM 'run.parquet'\").fetchall()]";
    let said = Command::new("python3")
        .args(["-c", ask])
        .arg(repository().join("docs/batches.sql"))
        .env("PYTHONPATH", &duckdb)
        .current_dir(world.path("run.csv").parent().unwrap())
        .output()
        .unwrap();
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    let rows: Vec<String> = String::from_utf8(said.stdout).unwrap().lines().map(str::to_owned).collect();
    let exported = std::fs::read_to_string(world.path("run.jsonl")).unwrap();
    let lines: Vec<Value> = exported.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |tag: &str| lines.iter().filter(move |line| line["t"] == tag).collect::<Vec<_>>();
    // Twins have no row in CSV, and none here.
    let own: Vec<&Value> = of("variant").into_iter().filter(|v| v["label"] == "").map(|v| &v["index"]).collect();
    let starts = of("invocation").into_iter().filter(|start| own.contains(&&start["variant"]));
    let samples = starts.flat_map(|start| start["samples"].as_array().unwrap());
    let batches: usize = samples.map(|samples| samples["ticks"].as_array().unwrap().len()).sum();
    assert_eq!(rows.len(), batches);
    let slower: Vec<&String> = rows.iter().filter(|row| row.contains("ticks=1100")).collect();
    assert!(!slower.is_empty() && slower.iter().all(|row| row.ends_with("|1100.0")), "{slower:?}");
    assert!(rows.iter().any(|row| row.contains("|warmup|")), "{:?}", rows[0]);
}

/// Two kinds of starts are shown as two, and no figure between them.
#[test]
fn a_trend_of_a_row_with_modes_shows_the_modes() {
    let world = World::new(FAKE);
    assert_eq!(world.run("run thread/honest --param ticks=1000 --rounds 12").status, 0);
    let file = world.forged("kinds", two_kinds);
    std::fs::remove_file(world.store()).unwrap();
    assert_eq!(world.run(&format!("import {file}")).status, 0);
    let words = ["history", "thread/honest", "--machine", "all"];
    let said = world.run_words(&words);
    assert!(said.out.contains("500 ns (50 %) or 1.00 µs") && said.out.contains("not judged: bimodal"), "{said:?}");
    let point = world.run_words(&[&words[..], &["--format", "json"]].concat()).json()["trends"][0]["points"][0].clone();
    assert!(point["median"].is_null() && point["interval"].is_null(), "{point}");
    assert_eq!(point["modes"].as_array().unwrap().len(), 2, "{point}");
}
