//! Run files with fitting checksums whose numbers no probe sends: shown in every form; never a
//! panic. What the reader refuses is a table in `crates/store/tests/run_files.rs`.

use switchcost_e2e::{Said, World, repository, sealed};

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

/// Forms of `export`, as its help lists them.
const FORMATS: &[&str] = &["json", "csv", "md", "benchstat", "prometheus", "jsonl"];

fn world() -> World {
    let world = World::new(FAKE);
    let template = "<html><script type=\"application/json\" id=\"data\">\"@switchcost-data@\"</script></html>";
    world.write("share/switchcost/report.html", template);
    assert_eq!(world.run("run thread/honest thread/blind --rounds 6 --batches 10").status, 0);
    world
}

/// The file with the first value of this key in each start replaced.
fn with(world: &World, name: &str, key: &str, value: &str) -> String {
    world.forged(name, |body| {
        let mut replaced = 0;
        let change = |line: &str| {
            // Of the batches, those that are measured.
            let of_batches = ["ticks", "units"].contains(&key);
            let begin = if of_batches { line.find("\"phase\":\"measure\"") } else { Some(0) };
            let key = format!("\"{key}\":");
            let found = begin.and_then(|begin| Some(begin + line[begin..].find(&key)? + key.len()));
            let Some(at) = found.filter(|_| line.starts_with("{\"t\":\"invocation\"")) else {
                return format!("{line}\n");
            };
            replaced += 1;
            let (head, tail) = line.split_at(at);
            let end = if tail.starts_with('[') { tail.find(']').unwrap() + 1 } else { tail.find([',', '}']).unwrap() };
            format!("{head}{value}{}\n", &tail[end..])
        };
        let body = body.lines().map(change).collect();
        assert!(replaced > 0, "no start has {key}");
        body
    })
}

#[track_caller]
fn sound(said: &Said, what: &str) {
    assert!([0, 2, 3, 4, 5, 7].contains(&said.status) && !said.err.contains("panicked"), "{what}: {said:?}");
}

#[test]
fn the_formats_are_all_that_there_are() {
    let help = World::new(FAKE).run("export --help").out;
    assert_eq!(help.matches("\n          - ").count(), FORMATS.len(), "{help}");
    assert!(FORMATS.iter().all(|format| help.contains(&format!("- {format}:"))), "{help}");
}

#[test]
fn other_nonsense_is_shown_in_every_form() {
    let world = world();
    let many = |value: &str| format!("[{}]", [value; 10].join(","));
    let most = i64::MAX.to_string();
    let forged = [
        ("huge", "ticks", many(&most)),
        ("negative", "ticks", many("-9223372036854775808")),
        ("none", "ticks", "[]".to_owned()),
        ("zero", "ticks", many("0")),
        ("apart", "ticks", format!("[{most},-{most},0,1,{most},-{most},0,1,{most},1]")),
        ("slow", "ticks_per_second", "1".to_owned()),
        ("fast", "ticks_per_second", u64::MAX.to_string()),
        ("units", "units", u64::MAX.to_string()),
        ("wall", "wall_ns", u64::MAX.to_string()),
        ("round", "round", u64::MAX.to_string()),
        ("start", "started_unix_ns", i64::MIN.to_string()),
    ];
    for (name, key, value) in forged {
        let file = with(&world, name, key, &value);
        let store = world.path(&format!("{name}.sqlite")).display().to_string();
        let imported = world.run(&format!("import {file} --store {store}"));
        assert_eq!(imported.status, 0, "{name}: {imported:?}");
        for format in FORMATS {
            let to = world.path(&format!("{name}.{format}")).display().to_string();
            let said = world.run(&format!("export 20 --format {format} -o {to} --store {store}"));
            assert_eq!(said.status, 0, "{name} {format}: {said:?}");
        }
        let page = world.path(&format!("{name}.html")).display().to_string();
        let said = world.run(&format!("report {file} latest -o {page}"));
        assert_eq!(said.status, 0, "{name}: {said:?}");
        sound(&world.run(&format!("compare {file} latest --gate 5%")), name);
        sound(&world.run_words(&["compare", "thread/honest", "thread/blind", "--store", &store]), name);
        sound(&world.run_words(&["history", "*", "--machine", "all", "--store", &store]), name);
        sound(&world.run(&format!("show 20 -v --notes --store {store}")), name);
    }
}

/// Of many files runs are not kept in memory until all are read: those read again are the same, in
/// the same order, and one bad file still leaves no store.
#[test]
fn many_files_are_imported_or_none() {
    let world = World::new(FAKE);
    let text = std::fs::read_to_string(repository().join("data/example/ladder.jsonl")).unwrap();
    let (body, _) = text.trim_end().rsplit_once('\n').unwrap();
    let mut words = vec!["import".to_owned()];
    for i in 0..24 {
        let path = world.path(&format!("{i}.jsonl"));
        std::fs::write(&path, sealed(&format!("{}\n", body.replacen("T160157-1c0e", &format!("T1601{i:02}-1c0e"), 1))))
            .unwrap();
        words.push(path.to_str().unwrap().to_owned());
    }
    let import = |words: &[String]| world.run_words(&words.iter().map(String::as_str).collect::<Vec<_>>());
    std::fs::write(world.path("bad.jsonl"), body).unwrap();
    let bad = [&words[..], &[world.path("bad.jsonl").to_str().unwrap().to_owned()]].concat();
    import(&bad).refuses(2, &["bad.jsonl"]);
    assert!(!world.store().exists());
    for outcome in ["imported", "already there"] {
        let said = import(&words);
        assert_eq!((said.status, said.out.matches(&format!(": {outcome}, 32 rows")).count()), (0, 24), "{said:?}");
    }
}

/// By which a row of a run is known.
const KEY: [&str; 5] = ["mechanism", "probe", "contexts", "placement", "parameters"];

/// The kept runs, changed so that the contexts of each ring are in one place. A page must ask for
/// what its probe counts, or the count shows nothing.
#[test]
fn contexts_in_one_place_are_found_in_every_kept_row() {
    // By our own pages.
    let Some(real) = switchcost_e2e::Real::new(FAKE) else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("forged.jsonl").display().to_string();
    let mut believed = std::collections::BTreeSet::new();
    let answers = std::fs::read_dir(repository().join("data/example/answers")).unwrap().flatten();
    let mut forged = 0;
    for file in answers.map(|file| file.path()).filter(|path| path.extension().is_some_and(|end| end == "jsonl")) {
        let text = std::fs::read_to_string(&file).unwrap();
        let (body, _) = text.trim_end().rsplit_once('\n').unwrap();
        if !body.contains("\"distinct_") {
            continue;
        }
        let mut rings = Vec::new();
        let mut told = std::collections::BTreeSet::new();
        let mut change = |line: &str| {
            let json: serde_json::Value = serde_json::from_str(line).unwrap();
            if json["t"] == "variant" && json["experiment"] == "switch" {
                rings.push((json["index"].clone(), KEY.map(|key| json[key].to_string())));
            }
            let ring = rings.iter().find(|(index, _)| json["t"] == "invocation" && *index == json["variant"]);
            let counts = json["evidence"]["counts"].as_object().filter(|_| json["verdict"] == "verified");
            let (Some((_, row)), Some(counts)) = (ring, counts) else { return format!("{line}\n") };
            let places = counts.iter().filter(|(name, count)| name.starts_with("distinct_") && **count != 1);
            places.fold(format!("{line}\n"), |line, (name, count)| {
                told.insert(row.clone());
                line.replace(&format!("\"{name}\":{count}"), &format!("\"{name}\":1"))
            })
        };
        let body: String = body.lines().map(&mut change).collect();
        std::fs::write(&path, sealed(&body)).unwrap();
        for row in real.run(&format!("export {path} --format json")).json()["results"].as_array().unwrap() {
            if row["experiment"] == "switch" && told.contains(&KEY.map(|key| row[key].to_string())) {
                forged += 1;
                if row["verdict"] == "verified" {
                    believed.insert(row["mechanism"].as_str().unwrap().to_owned());
                }
            }
        }
    }
    assert_eq!(believed, std::collections::BTreeSet::new());
    assert!(forged > 100, "only {forged} rows count places");
}
